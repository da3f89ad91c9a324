/** One lane, two people: whoever waits sees that, and is served in turn (SPEC T2). */
import { expect, test } from "vitest";
import { echo, heard, heldBack } from "../support/scripts.ts";
import { startWorld } from "../support/world.ts";

test("a person who waits behind somebody else's long turn sees that the bot knows, and is answered next", async () => {
  await using world = await startWorld({ botSettings: { lanes: 1 }, settings: { limits: { waitSeconds: 1 } } });
  const model = heldBack();
  world.script("Ada", (request) => (heard(request).includes("long") ? model.script(request) : echo(request)));
  world.say("Alice", "@Ada a long one", { in: world.channel("alice") });
  await world.llm.waitForRequest((request) => heard(request).includes("long"), "ada", 20_000);
  const waiting = world.say("Bob", "@Ada a short one", { in: world.channel("bob") });
  await world.slack.waitUntil(() => world.slack.status(world.bot(), waiting) !== "", "a status for Bob", 20_000);
  expect(world.answers(waiting)).toEqual([]);
  model.release();
  expect((await world.answer(waiting, 20_000)).text).toBe("You said: @Ada a short one");
  await world.quiet(20_000);
}, 90_000);
