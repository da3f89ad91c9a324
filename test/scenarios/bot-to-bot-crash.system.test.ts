/** kill -9 while bots work for each other (SPEC A2): the question, the answer and its telling happen once each, whichever moment it is. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, done, type LlmRequest, type Script, sendMessage, together } from "../emulators/llm/index.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const LONG = 120_000;

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada", "Bo"], people: ["Alice"], process: "own" });
}, START_MS);
afterAll(() => world?.close());

const fresh = (request: LlmRequest) => request.lastRole === "user";
const never = () => new Promise<never>(() => undefined);

/** Ada asks Bo for a code and tells it; each story has a code of its own. */
const castOf = (code: string): Readonly<Record<"ada" | "bo", Script>> => ({
  ada: (request) => {
    if (!fresh(request)) return done();
    if (request.lastUserText.includes(`it is ${code}`)) return sendMessage(`Bo says: ${code}`);
    return together(sendMessage("I asked Bo."), call("SendToAgent", { target: "bo", message: `Find ${code}.` }));
  },
  bo: (request) => (fresh(request) ? sendMessage(`it is ${code}`) : done()),
});

test.each([
  ["the teammate works", "bo", "code-1", (request: LlmRequest) => fresh(request)],
  ["the teammate has answered and its turn goes on", "bo", "code-2", (request: LlmRequest) => !fresh(request)],
  ["the answer is about to be told", "ada", "code-3", (request: LlmRequest) => fresh(request) && isAnswered(request)],
  ["the answer was told and the turn goes on", "ada", "code-4", (request: LlmRequest) => isTold(request)],
] as const)(
  "killed while %s: the people hear the result after the restart, once",
  async (_moment, victim, code, isMoment) => {
    const scripts = castOf(code);
    const isNow = (request: LlmRequest) => request.raw.includes(code) && isMoment(request);
    world.script("Ada", scripts.ada);
    world.script("Bo", scripts.bo);
    world.script(victim, (request) => (isNow(request) ? never() : scripts[victim](request)));
    const asked = world.say("Alice", `@Ada ask for ${code}`, { in: world.channel(code, ["Ada", "Alice"]) });
    await world.llm.waitForRequest(isNow, victim, 30_000);
    await world.crash();
    world.script(victim, scripts[victim]);
    await world.start();
    const texts = () => world.answers(asked).map((post) => post.text);
    await world.until(() => texts().includes(`Bo says: ${code}`), "the result", 40_000);
    await world.quiet(40_000);
    expect(texts()).toEqual(["I asked Bo.", `Bo says: ${code}`]);
  },
  LONG,
);

function isAnswered(request: LlmRequest): boolean {
  return request.lastUserText.includes("(bot, your teammate): it is");
}

function isTold(request: LlmRequest): boolean {
  return !fresh(request) && request.raw.includes("Bo says: code-4");
}
