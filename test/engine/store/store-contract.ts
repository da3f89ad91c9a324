/** The suite every store passes, section by section. A world is opened once per section group and shared by its tests. */
import { afterAll, beforeAll, describe } from "vitest";
import { testAmendments } from "./contract-amendments.ts";
import { testBroadcast } from "./contract-broadcast.ts";
import { testCards } from "./contract-cards.ts";
import { testClaims } from "./contract-claims.ts";
import { testConfiguration } from "./contract-configuration.ts";
import { testCrashes } from "./contract-crashes.ts";
import { testGroups } from "./contract-groups.ts";
import { testIntake } from "./contract-intake.ts";
import { testOrder } from "./contract-order.ts";
import { testOutbox } from "./contract-outbox.ts";
import { testPeers } from "./contract-peers.ts";
import { testSends } from "./contract-sends.ts";
import { testSkills } from "./contract-skills.ts";
import { testTranscript } from "./contract-transcript.ts";
import { testTurns } from "./contract-turns.ts";
import type { StoreWorld } from "./store-world.ts";

/** Registers all sections for one kind of database. */
export function testStore(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    let world: StoreWorld | undefined;
    const current = () => {
      if (!world) throw new Error("the world is not open");
      return world;
    };
    beforeAll(async () => {
      world = await open();
    });
    afterAll(() => world?.close());
    testConfiguration(current);
    testIntake(current);
    testAmendments(current);
    testTranscript(current);
    testCards(current);
    testClaims(current);
    testOrder(current);
    testPeers(current);
    testBroadcast(current);
    testTurns(current);
    testSends(current);
    testSkills(current);
    testGroups(current);
    testOutbox(current);
    testCrashes(current);
  });
}
