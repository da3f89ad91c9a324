/** The order in which a bot's work is taken, whatever arrives in which order (SPEC T2): a property over the real store. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAIL_RANK, type MailKind } from "../../../src/engine/mail.ts";
import { claimTimes, newPlace, type TestPlace, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

interface Arrival {
  readonly kind: MailKind;
  /** Which of the bot's conversations. */
  readonly where: number;
  /** Seconds before now that the platform says. */
  readonly ageS: number;
}

const arrival: fc.Arbitrary<Arrival> = fc.record({
  kind: fc.constantFrom<MailKind>("person", "bot", "background"),
  where: fc.nat({ max: 3 }),
  ageS: fc.nat({ max: 300 }),
});

/** What the rules say, in the words of the rules. */
function expectedOrder(arrivals: readonly Arrival[]): number[] {
  const isDirect = (one: Arrival) => one.where < 2;
  return arrivals
    .map((one, at) => ({ one, at }))
    .sort(
      (a, b) =>
        MAIL_RANK[a.one.kind] - MAIL_RANK[b.one.kind] ||
        Number(isDirect(b.one)) - Number(isDirect(a.one)) ||
        b.one.ageS - a.one.ageS ||
        a.at - b.at,
    )
    .map(({ at }) => at);
}

async function take(place: TestPlace, anySession: string): Promise<number | undefined> {
  const { claim } = await place.store.claim({ sessionId: anySession, owner: unique("w"), ...claimTimes });
  if (!claim) return undefined;
  const view = await place.store.viewSession(claim);
  const [first] = view.due;
  const turnId = unique("t");
  await place.beginWith(claim, turnId, first ? [first.id] : []);
  await place.finish(claim, turnId);
  return first?.body.type === "host" ? Number(first.body.text) : undefined;
}

export function testOrder(world: () => StoreWorld): void {
  describe("the order of work", () => {
    test("people before bots before background, direct before channels, first come first served", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(arrival, { minLength: 2, maxLength: 9 }), async (arrivals) => {
          const home = await newPlace(world().store);
          const places = [home.beside("direct"), home.beside("direct"), home, home.beside("channel")];
          const now = Date.now();
          let session = "";
          for (const [at, one] of arrivals.entries()) {
            const place = places[one.where] as TestPlace;
            const mail = { kind: one.kind, body: { type: "host" as const, text: String(at) } };
            session = await place.wake("work", { at: new Date(now - one.ageS * 1000), mail });
          }
          const taken: (number | undefined)[] = [];
          for (let i = 0; i < arrivals.length; i += 1) taken.push(await take(home, session));
          expect(taken).toEqual(expectedOrder(arrivals));
        }),
        { numRuns: 15 },
      );
    });
  });
}
