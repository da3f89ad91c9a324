/** Bots made and changed at run time: by administrators only, reachable at once, and left alone by the settings file. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../src/cli/program.ts";
import { call, done, type LlmRequest, type Script, sendMessage } from "../emulators/llm/index.ts";
import { heard } from "../support/scripts.ts";
import { Visitor } from "../support/web-visitor.ts";
import { startWorld, type World } from "../support/world.ts";

/** Makes the call it is asked for, and says what came of it. */
const doing = (act: (words: string, request: LlmRequest) => ReturnType<typeof call>): Script => {
  return (request) => {
    // The new bot has its maker's model, and answers come back as input too.
    if (request.system.includes("You are Dee") || /Dee \(dee\)/.test(request.lastUserText)) return done();
    if (request.callsThisTurn.length === 0) return act(heard(request), request);
    return request.callsThisTurn.length === 1 ? sendMessage(`Result: ${request.lastToolResult}`) : done();
  };
};

async function doctor(world: World): Promise<string> {
  const out: string[] = [];
  const line = {
    cwd: world.folder,
    env: {},
    print: (text: string) => void out.push(text),
    complain: (text: string) => void out.push(text),
    fetch: async () => Response.error(),
  };
  await runCommand(["doctor"], line, {});
  return out.join("\n");
}

test("an administrator has a bot made, which is in the playground and among the teammates without a restart; others may not", async () => {
  await using world = await startWorld();
  const file = join(world.folder, "parley.yaml");
  const settings = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...settings, access: { admins: [world.person("Alice").id] } }));
  await world.restart();
  world.script(
    "Ada",
    doing((words) => {
      if (words.startsWith("make")) return call("CreateAgent", { name: "Dee", description: "Counts things." });
      if (words.startsWith("rename")) return call("UpdateAgent", { agent_id: "ada", description: "New duties." });
      return call("SendToAgent", { target: "dee", message: "count" });
    }),
  );
  const answerTo = async (by: string, words: string) => {
    const answer = await world.answer(world.dm(by, words), 20_000);
    await world.quiet(30_000);
    return answer.text;
  };
  expect(await answerTo("Bob", "make Dee")).toMatch(/only administrators/);
  expect(await answerTo("Alice", "make Dee")).toMatch(/created: Dee, id dee/);
  const visitor = new Visitor(world.url());
  await visitor.enter("Sam");
  expect((await visitor.state()).body.bots.map((bot) => bot.name)).toEqual(["Ada", "Dee"]);
  expect(await answerTo("Alice", "ask Dee")).toMatch(/queued/);
  expect(await answerTo("Alice", "rename yourself")).toMatch(/changed: ada/);
  await world.quiet(30_000);
  const found = await doctor(world);
  expect(found).toContain("bot dee: Dee was made at run time");
  expect(found).toMatch(/bot ada: changed at run time: role is "New duties\."/);
  await world.restart();
  const again = new Visitor(world.url());
  await again.enter("Sam");
  expect((await again.state()).body.bots.map((bot) => [bot.name, bot.role])).toEqual([
    ["Ada", "New duties."],
    ["Dee", "Counts things."],
  ]);
}, 180_000);
