/** What connectors ask of people: approvals bound to one call, questions in the middle of a call, pages to open. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, done, type LlmRequest, type Script, sendMessage } from "../emulators/llm/index.ts";
import type { Post } from "../emulators/slack/index.ts";
import { hostile, untilConnector } from "../support/connectors.ts";
import { heard } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const TIME = START_MS + 60_000;

/** Makes one call by the person's words ("tool {json}"), then tells what came of it; says nothing while it waits for approval. */
const calling: Script = (request: LlmRequest) => {
  if (request.lastRole === "user") {
    const [, name = "", args = "{}"] = /(mcp__\S+)\s*(\{.*\})?/.exec(heard(request)) ?? [];
    if (name) return call(name, JSON.parse(args || "{}") as Record<string, unknown>);
    return request.lastUserText.includes("declined") ? sendMessage("all right, I leave it") : done();
  }
  return request.callsThisTurn.at(-1)?.name === "SendMessage" ? done() : sendMessage(request.lastToolResult);
};

/** The newest post after this one whose words fit. */
const posted = (world: World, asked: Post, words: RegExp): Promise<Post> =>
  world.until(
    () => world.answers(asked).findLast((post) => words.test(post.text)),
    () => `a post like ${words}; said: ${JSON.stringify(world.answers(asked).map((post) => post.text))}`,
    20_000,
  );

describe("a call that its server marks as destructive", () => {
  test(
    "runs only when the person approved exactly it, once, and by nobody else",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "parley-wipe-"));
      const file = join(folder, "wiped");
      await using world = await startWorld({ settings: { mcp: { servers: { bad: hostile("tools", file) } } } });
      await untilConnector(world, "bad", "connected");
      world.script("Ada", calling);
      const asked = world.say("Alice", '@Ada mcp__bad__wipe {"path":"/old"}');
      const card = await posted(world, asked, /asks for your approval/);
      expect(card.text).toContain("/old");
      await world.quiet();
      expect(existsSync(file)).toBe(false);
      await world.slack.press(world.person("Bob"), card, "Approve");
      await world.quiet();
      expect(existsSync(file)).toBe(false);
      await world.slack.press(world.person("Alice"), card, "Approve");
      await posted(world, asked, /wiped/);
      await world.quiet();
      expect(readFileSync(file, "utf8")).toBe('{"path":"/old"}\n');
      rmSync(folder, { recursive: true });
    },
    TIME,
  );

  test(
    "is not run when the person declines, and the bot hears that",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "parley-wipe-"));
      const file = join(folder, "wiped");
      await using world = await startWorld({ settings: { mcp: { servers: { bad: hostile("tools", file) } } } });
      await untilConnector(world, "bad", "connected");
      world.script("Ada", calling);
      const asked = world.dm("Alice", 'mcp__bad__wipe {"path":"/old\u202egpj.exe"}');
      const card = await posted(world, asked, /asks for your approval/);
      expect(card.text).toContain("/old\\u{202e}gpj.exe");
      await world.slack.press(world.person("Alice"), card, "Decline");
      await posted(world, asked, /all right, I leave it/);
      await world.quiet();
      expect(existsSync(file)).toBe(false);
      rmSync(folder, { recursive: true });
    },
    TIME,
  );
});

describe("a server that asks in the middle of a call", () => {
  test(
    "gets the person's answers, asked one by one and checked",
    async () => {
      await using world = await startWorld({ settings: { mcp: { servers: { bad: hostile("tools") } } } });
      await untilConnector(world, "bad", "connected");
      world.script("Ada", calling);
      const asked = world.dm("Alice", "mcp__bad__ask");
      const colour = await posted(world, asked, /connector \*\*bad\*\* asks: What do you want\? \(1 of 2\)/);
      await world.slack.press(world.person("Alice"), colour, "blue");
      await posted(world, asked, /\(2 of 2\)/);
      world.dm("Alice", "none");
      await posted(world, asked, /A number, please/);
      world.dm("Alice", "3");
      const answer = await posted(world, asked, /person: /);
      expect(answer.text).toContain('{"action":"accept","content":{"colour":"blue","count":3}}');
      await world.quiet();
    },
    TIME,
  );

  test(
    "gets a yes to a question without fields from the person alone",
    async () => {
      await using world = await startWorld({ settings: { mcp: { servers: { bad: hostile("tools") } } } });
      await untilConnector(world, "bad", "connected");
      world.script("Ada", calling);
      const asked = world.dm("Alice", "mcp__bad__consent");
      const card = await posted(world, asked, /Delete it all\?/);
      expect(world.answers(asked).some((post) => post.text.includes("person:"))).toBe(false);
      await world.slack.press(world.person("Alice"), card, "Accept");
      expect((await posted(world, asked, /person:/)).text).toContain('"action":"accept"');
      await world.quiet();
    },
    TIME,
  );

  test(
    "may show a page, with its host named; declining is told to it",
    async () => {
      await using world = await startWorld({ settings: { mcp: { servers: { bad: hostile("tools") } } } });
      await untilConnector(world, "bad", "connected");
      world.script("Ada", calling);
      const asked = world.dm("Alice", "mcp__bad__ask_page");
      const card = await posted(world, asked, /open a page on \*\*pay\.example\.com\*\*/);
      expect(JSON.stringify(card.blocks)).toContain("https://pay.example.com/1");
      await world.slack.press(world.person("Alice"), card, "Decline");
      expect((await posted(world, asked, /person: /)).text).toContain('{"action":"decline"}');
      await world.quiet();
    },
    TIME,
  );

  test(
    "is refused a model's words unless the settings allow some",
    async () => {
      const servers = { no: hostile("tools"), yes: { ...hostile("tools"), sampling: 1 } };
      await using world = await startWorld({ settings: { mcp: { servers }, utilityModel: "local/helper" } });
      await untilConnector(world, "no", "connected");
      await untilConnector(world, "yes", "connected");
      world.script("helper", () => ({ text: "sampled words" }));
      world.script("Ada", calling);
      const say = async (name: string) => {
        const answer = await world.answer(world.dm("Alice", name), 20_000);
        await world.quiet();
        return answer.text;
      };
      expect(await say("mcp__no__sample")).not.toContain("sampled words");
      expect(await say("mcp__yes__sample")).toContain("sampled words");
      expect(await say("mcp__yes__sample")).toContain("limit of samples");
    },
    TIME,
  );
});
