/** The published file and memory servers, and the question form of the server of everything, behind a bot in emulated Slack. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, done, type LlmRequest, type Script, sendMessage } from "../emulators/llm/index.ts";
import { hostile, published, untilConnector } from "../support/connectors.ts";
import { heard } from "../support/scripts.ts";
import { START_MS, startWorld } from "../support/world.ts";

const TIME = START_MS + 90_000;

/** "tool {json}" makes that call and tells what came of it; nothing more is said after an approval was asked for. */
const calling: Script = (request: LlmRequest) => {
  if (request.lastRole === "user") {
    const [, name = "", args = "{}"] = /((?:mcp__|search_|call_|read_)\S+)\s*(\{.*\})?/.exec(heard(request)) ?? [];
    return name ? call(name, JSON.parse(args || "{}") as Record<string, unknown>) : done();
  }
  return request.callsThisTurn.at(-1)?.name === "SendMessage" ? done() : sendMessage(request.lastToolResult);
};

test(
  "files are read at once; overwriting one, which the server marks as destructive, waits for the person",
  async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-files-")));
    writeFileSync(join(folder, "plan.txt"), "the old plan");
    const servers = { files: published("filesystem", folder), notes: published("memory") };
    await using world = await startWorld({
      settings: { mcp: { servers } },
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    });
    await untilConnector(world, "files", "connected");
    await untilConnector(world, "notes", "connected");
    world.script("Ada", calling);
    const path = join(folder, "plan.txt");
    const read = await world.answer(
      world.dm("Alice", `mcp__files__read_text_file ${JSON.stringify({ path })}`),
      20_000,
    );
    expect(read.text).toContain("the old plan");
    await world.quiet();
    const asked = world.dm("Alice", `mcp__files__write_file ${JSON.stringify({ path, content: "the new plan" })}`);
    const card = await world.until(
      () => world.answers(asked).find((post) => post.text.includes("asks for your approval")),
      "the approval",
    );
    await world.quiet();
    expect(readFileSync(path, "utf8")).toBe("the old plan");
    await world.slack.press(world.person("Alice"), card, "Approve");
    await world.quiet(30_000);
    expect(readFileSync(path, "utf8")).toBe("the new plan");
    const graph = await world.answer(world.dm("Alice", "mcp__notes__read_graph"), 20_000);
    expect(graph.text).toContain("entities");
    await world.quiet();
    expect(world.llm.refusals).toEqual([]);
    rmSync(folder, { recursive: true });
  },
  TIME,
);

test(
  "an approved call runs once although the process is killed right after the approval",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-wipe-"));
    const file = join(folder, "wiped");
    const settings = { mcp: { servers: { bad: hostile("tools", file) } } };
    await using world = await startWorld({ settings, process: "own" });
    await untilConnector(world, "bad", "connected");
    world.script("Ada", calling);
    const asked = world.dm("Alice", 'mcp__bad__wipe {"path":"/old"}');
    const card = await world.until(
      () => world.answers(asked).find((post) => post.text.includes("asks for your approval")),
      "the approval",
    );
    await world.quiet();
    await world.slack.press(world.person("Alice"), card, "Approve");
    await world.acknowledged();
    await world.crash();
    await world.start();
    await world.quiet(60_000);
    const told = world.answers(asked).map((post) => post.text);
    const runs = (() => {
      try {
        return readFileSync(file, "utf8").trim().split("\n").length;
      } catch {
        // Nothing was run.
        return 0;
      }
    })();
    // Either it ran once, or the bot was told that nobody knows.
    expect(runs).toBeLessThanOrEqual(1);
    expect(told.some((text) => /wiped|may have happened/.test(text))).toBe(true);
    rmSync(folder, { recursive: true });
  },
  TIME,
);
