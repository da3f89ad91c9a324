/** Two products on one PostgreSQL database, serving the same bot: whichever hears a message, it is answered once. */
import { expect, test } from "vitest";
import { echo, heard, heldBack } from "../support/scripts.ts";
import { createServerDatabase, isServerThere } from "../support/server-database.ts";
import { startWorld } from "../support/world.ts";

const there = await isServerThere();
if (!there) test.skip("two products on one database: no PostgreSQL answers on localhost:5432", () => undefined);

test.runIf(there)(
  "events that both hear, a slow model and the end of one product: one answer each",
  async () => {
    const database = await createServerDatabase();
    try {
      const settings = { storage: { databaseUrl: database.url } };
      await using first = await startWorld({ settings, slack: { retryDelaysMs: [0, 300, 600] } });
      await using second = await startWorld({ settings, beside: first });
      first.script("Ada", echo);
      const { slack } = first;
      const asked = Array.from({ length: 8 }, (_one, at) => {
        slack.disturb({ duplicate: 3 }, { times: 2 });
        return first.say("Alice", `@Ada shared ${at}`, { in: first.channel(`shared-${at}`), gapMs: 0 });
      });
      for (const one of asked) await first.answer(one, 15_000);
      await first.quiet(15_000);
      expect(asked.map((one) => first.answers(one).length)).toEqual(asked.map(() => 1));

      const model = heldBack();
      first.script("Ada", (request) => (heard(request).includes("slow one") ? model.script(request) : echo(request)));
      const slow = first.say("Alice", "@Ada slow one", { in: first.channel("slow") });
      await first.request((request) => heard(request).includes("slow one"));
      await second.stop();
      model.release();
      await first.answer(slow, 40_000);
      await first.quiet(20_000);
      expect(first.answers(slow)).toHaveLength(1);
    } finally {
      await database.drop();
    }
  },
  120_000,
);
