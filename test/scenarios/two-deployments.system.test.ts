/** Two installations of the product in one Slack channel, each with a bot of its own (SPEC I7): they never talk each other into a loop. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Post } from "../emulators/slack/index.ts";
import { answering } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const LONG = 120_000;
const settings = { access: { bots: "mentions" } };

let ada: World;
let bo: World;
beforeAll(async () => {
  ada = await startWorld({ bots: ["Ada"], settings });
  ada.slack.invite(ada.general, ada.slack.addApp({ name: "Bo", mode: "socket" }));
  bo = await startWorld({ bots: ["Bo"], settings, beside: ada });
}, START_MS);
afterAll(async () => {
  await bo?.close();
  await ada?.close();
});

/** Both at rest: what one says is an event of the other, so both are looked at again until nothing was said meanwhile. */
async function quiet() {
  for (let before = -1; before !== ada.slack.posts().length; ) {
    before = ada.slack.posts().length;
    for (const world of [ada, bo]) await world.quiet(40_000);
  }
}
const authors = (to: Post) => ada.answers(to).map((post) => post.author);

test(
  "in a thread of both, what one says wakes the other only when it is called by it",
  async () => {
    for (const name of ["Ada", "Bo"])
      ada.script(
        name,
        answering(() => `${name} here`),
      );
    const asked = ada.say("Alice", "@Ada are you there?");
    await quiet();
    bo.say("Alice", "@Bo and you?", { thread: asked });
    await quiet();
    expect(authors(asked)).toEqual(["Ada", "Bo"]);
  },
  LONG,
);

test(
  "when each always calls the other by name, they come to rest, and a person is heard again",
  async () => {
    ada.script(
      "Ada",
      answering(() => "your turn @Bo"),
    );
    ada.script(
      "Bo",
      answering(() => "your turn @Ada"),
    );
    const channel = ada.channel("loop");
    ada.slack.invite(channel, bo.bot("Bo"));
    const asked = ada.say("Alice", "@Ada begin", { in: channel });
    await quiet();
    const turns = authors(asked).length;
    expect(turns).toBeGreaterThan(4);
    // Each hears at most 24 messages of the other after the last person, and 20 in a minute.
    expect(turns).toBeLessThanOrEqual(49);
    ada.script(
      "Bo",
      answering(() => "Bo here"),
    );
    const person = bo.say("Alice", "@Bo enough, are you there?", { in: channel });
    await quiet();
    expect(bo.answers(person).map((post) => post.text)).toEqual(["Bo here"]);
  },
  LONG,
);
