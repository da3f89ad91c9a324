/** Many workers, some of which die: every message is worked on to its end once (SPEC T2, T3). */
import { expect, test } from "vitest";
import { FenceLostError } from "../../../src/engine/errors.ts";
import type { Store } from "../../../src/engine/store/store.ts";
import type { TestPlace } from "./store-place.ts";
import { claimTimes, newPlace, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

const MESSAGES = 40;

export function testCrashes(world: () => StoreWorld): void {
  test("forty messages, six workers in three processes, every third turn lost half-way: each message is finished once", async () => {
    const place = await newPlace(world().store, { lanes: 2 });
    const places = [place, place.beside(), place.beside("direct")];
    const texts = Array.from({ length: MESSAGES }, (_, i) => places[i % 3]?.say(`message ${i}`));
    const sessionId = (await Promise.all(texts))[0]?.woken[0]?.sessionId ?? "";
    const stores = [world().store, await world().openAnother(), await world().openAnother()];
    const log: WorkLog = { finished: [], begun: 0 };
    await Promise.all(Array.from({ length: 6 }, (_, i) => work(stores[i % 3] as Store, place, sessionId, log)));
    expect(new Set(log.finished).size).toBe(MESSAGES);
    expect(log.finished).toHaveLength(MESSAGES);
    expect(log.begun).toBeGreaterThan(MESSAGES);
    const { rows } = await world().pool.query(`SELECT DISTINCT "state" FROM "Mail" WHERE "botId" = $1`, [place.bot.id]);
    expect(rows).toEqual([{ state: "done" }]);
  });
}

interface WorkLog {
  readonly finished: string[];
  begun: number;
}

/** Takes one piece of mail per turn until everything is finished. A lost turn keeps its claim until the lease ends, as after kill -9. */
async function work(store: Store, place: TestPlace, sessionId: string, log: WorkLog): Promise<void> {
  while (log.finished.length < MESSAGES) {
    const request = { ...claimTimes, sessionId, owner: unique("w"), leaseMs: 200, waitMs: 20 };
    const { claim } = await store.claim(request);
    if (!claim) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      continue;
    }
    try {
      const view = await store.viewSession(claim);
      const turnId = view.turn?.id ?? unique("t");
      if (view.turn) await store.resumeTurn(claim, turnId);
      else
        await place.through(store).beginWith(
          claim,
          turnId,
          view.due.slice(0, 1).map((mail) => mail.id),
        );
      log.begun += 1;
      if (log.begun % 3 === 0) continue;
      const { taken } = await store.viewSession(claim);
      await place.through(store).finish(claim, turnId);
      log.finished.push(...taken.map((mail) => mail.id));
    } catch (error) {
      if (!(error instanceof FenceLostError)) throw error;
    }
  }
}
