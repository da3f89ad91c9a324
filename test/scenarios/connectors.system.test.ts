/** Connectors through the front door: real third-party servers behind a bot in emulated Slack. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, done, type LlmRequest, type Script, sendMessage } from "../emulators/llm/index.ts";
import { connectorStates, hostile, published, untilConnector } from "../support/connectors.ts";
import { heard } from "../support/scripts.ts";
import { START_MS, startWorld } from "../support/world.ts";

const TIME = START_MS + 60_000;

/** Makes one call by the person's words ("tool {json}"), then tells what came of it. */
const calling: Script = (request: LlmRequest) => {
  if (request.lastRole === "user") {
    const [, name = "", args = "{}"] = /^(\S+)\s*(\{.*\})?/.exec(heard(request)) ?? [];
    return name ? call(name, JSON.parse(args || "{}") as Record<string, unknown>) : done();
  }
  return request.callsThisTurn.at(-1)?.name === "SendMessage" ? done() : sendMessage(request.lastToolResult);
};

describe("with the published server of everything", () => {
  test(
    "a bot uses a local server's tools, and sends the picture one returned",
    async () => {
      await using world = await startWorld({ settings: { mcp: { servers: { demo: published("everything") } } } });
      await untilConnector(world, "demo", "connected");
      world.script("Ada", (request) => {
        const made = request.callsThisTurn.length;
        if (made === 0) return call("mcp__demo__get-sum", { a: 2, b: 40 });
        if (made === 1) return call("mcp__demo__get-tiny-image", {});
        if (made === 2) return sendMessage(request.toolResults[0] ?? "");
        const url = /url (file:\/\/\/attachments\/\S+?)\)/.exec(request.toolResults.join("\n"))?.[1] ?? "none";
        return made === 3 ? call("SendMessage", { type: "attachment", url, alt: "A tiny picture" }) : done();
      });
      const asked = world.dm("Alice", "what is 2 and 40?");
      await world.quiet(40_000);
      const answers = world.answers(asked);
      expect(answers[0]?.text).toContain("The sum of 2 and 40 is 42.");
      expect(answers.flatMap((post) => post.files).map((file) => file.name)).toEqual(["A tiny picture.png"]);
      const [first] = world.llm.requests;
      const names = first?.tools.map((tool) => tool.name).filter((name) => name.startsWith("mcp__")) ?? [];
      expect(names).toContain("mcp__demo__echo");
      expect(names).toEqual([...names].sort());
      expect(first?.system).toContain("- demo: 15 tools");
      expect(world.llm.requests.slice(1).every((request) => request.sharedPrefix > 0.95)).toBe(true);
      expect(world.llm.refusals).toEqual([]);
    },
    TIME,
  );

  test(
    "the tools of a conversation stay the same when their server has gone, and answer that it is not connected",
    async () => {
      await using world = await startWorld({ settings: { mcp: { servers: { bad: hostile("tools") } } } });
      await untilConnector(world, "bad", "connected");
      world.script("Ada", calling);
      expect((await world.answer(world.dm("Alice", 'mcp__bad__echo {"a":1}'))).text).toContain('echo {"a":1}');
      await world.quiet();
      expect((await world.answer(world.dm("Alice", "mcp__bad__die"))).text).toMatch(/was cut off.*may have happened/);
      await world.quiet();
      await untilConnector(world, "bad", "connected");
      expect((await world.answer(world.dm("Alice", 'mcp__bad__echo {"b":2}'))).text).toContain('echo {"b":2}');
      await world.quiet();
      const tools = world.llm.requests.map((request) => JSON.stringify(request.tools));
      expect(new Set(tools).size).toBe(1);
    },
    TIME,
  );
});

test(
  "with connectors and skills the beginning of a conversation's requests stays the same to the byte, whatever servers and folders do",
  async () => {
    await using world = await startWorld({
      settings: { mcp: { servers: { bad: hostile("tools"), liar: hostile("liar"), moves: hostile("changing") } } },
    });
    for (const name of ["bad", "liar", "moves"]) await untilConnector(world, name, "connected");
    world.script("Ada", calling);
    const folder = join(world.folder, "data", "workspace", "skills", "minutes");
    const ask = async (words: string) => {
      const { text } = await world.answer(world.dm("Alice", words), 20_000);
      await world.quiet(20_000);
      return text;
    };
    await ask('mcp__bad__echo {"a":1}');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), "---\nname: Minutes\ndescription: How to write minutes.\n---\nShort.\n");
    await ask("mcp__moves__first");
    await ask("mcp__bad__die");
    await ask('mcp__bad__echo {"b":2}');
    const beginnings = world.llm.requests.map(({ system, tools }) => JSON.stringify([system, tools]));
    expect(beginnings.length).toBeGreaterThan(8);
    expect(new Set(beginnings).size).toBe(1);
  },
  TIME,
);

describe("when a server fails", () => {
  test(
    "model and person are told once, and the bot goes on without it",
    async () => {
      await using world = await startWorld({
        settings: { mcp: { servers: { broken: hostile("exit"), good: hostile("tools") } } },
      });
      await untilConnector(world, "broken", "reconnecting");
      await untilConnector(world, "good", "connected");
      const first = world.dm("Alice", "hello");
      await world.quiet();
      const second = world.dm("Alice", "hello again");
      await world.quiet();
      const posts = world.answers(first).map((post) => post.text);
      expect(posts.filter((text) => /connector broken does not work right now/.test(text))).toHaveLength(1);
      expect(posts).toContain("You said: hello");
      expect(world.answers(second).map((post) => post.text)).toEqual(["You said: hello again"]);
      expect(world.llm.requests[0]?.system).toContain(
        "- broken: not connected: its program ended right after its start.",
      );
      expect(world.llm.requests[0]?.hasTool("mcp__good__echo")).toBe(true);
    },
    TIME,
  );

  test(
    "a required server that cannot start stops the turn, with the reason and Retry",
    async () => {
      const required = { ...hostile("exit"), required: true };
      await using world = await startWorld({ settings: { mcp: { servers: { books: required } } } });
      const asked = world.dm("Alice", "what do the books say?");
      const answer = await world.answer(asked, 30_000);
      expect(answer.text).toMatch(/needs the connector books .*its program ended right after its start/);
      await world.quiet(30_000);
      expect(world.llm.requests).toEqual([]);
    },
    TIME,
  );

  test(
    "a call that hangs costs only itself: the next one works, and so do the other tools",
    async () => {
      const server = { ...hostile("tools"), timeoutSeconds: 1 };
      await using world = await startWorld({ settings: { mcp: { servers: { bad: server } } } });
      await untilConnector(world, "bad", "connected");
      world.script("Ada", calling);
      const hung = await world.answer(world.dm("Alice", "mcp__bad__hang"), 20_000);
      expect(hung.text).toMatch(/took longer than its limit.*other tools still work/);
      await world.quiet();
      expect((await world.answer(world.dm("Alice", "mcp__bad__echo"))).text).toContain("echo {}");
      await world.quiet();
      const slow = await world.answer(world.dm("Alice", "mcp__bad__slow"), 20_000);
      expect(slow.text).toContain("slow but sure");
      await world.quiet();
      expect((await connectorStates(world)).map(({ state }) => state)).toEqual(["connected"]);
      const statuses = world.slack.requests.filter((request) => request.method === "assistant.threads.setStatus");
      expect(JSON.stringify(statuses)).toMatch(/is using bad: (25|50|75|100) %/);
    },
    TIME,
  );
});
