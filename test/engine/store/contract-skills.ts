/** Skills that bots write, and what a session has been told of skills (SPEC W6, X4): once, fenced, and told anew after a fresh start. */
import { describe, expect, test } from "vitest";
import { FenceLostError } from "../../../src/engine/errors.ts";
import type { Claim } from "../../../src/engine/session.ts";
import type { CommitWorkflow, WorkflowOutcome } from "../../../src/engine/store/store.ts";
import { newPlace, type TestPlace, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

interface Desk {
  readonly place: TestPlace;
  readonly claim: Claim;
  readonly turnId: string;
}

async function newDesk({ store }: StoreWorld): Promise<Desk> {
  const place = await newPlace(store);
  const { claim, turnId } = await place.reply(30);
  return { place, claim, turnId };
}

const result = { ok: true, text: "done" };

function create(
  { place }: Desk,
  id: string,
  more: { name?: string; audience?: string; limit?: number } = {},
): CommitWorkflow {
  const { id: botId, orgId } = place.bot;
  const { name = "Mail", audience = "channel(test:W:C)", limit = 100 } = more;
  return {
    action: "create",
    workflow: { id, orgId, botId, name, description: "when", body: "how", audience },
    limit,
    result,
  };
}

const commit = (desk: Desk, index: number, input: CommitWorkflow): Promise<WorkflowOutcome> =>
  desk.place.store.commitWorkflow(desk.claim, { turnId: desk.turnId, step: 1, index }, input);

const own = async ({ place }: Desk) =>
  (await place.store.listWorkflows(place.bot.orgId)).filter((one) => one.botId === place.bot.id);

export function testSkills(world: () => StoreWorld): void {
  describe("written skills", () => {
    test("one is made, changed and deleted, each with its call's result and each once", async () => {
      const desk = await newDesk(world());
      const { store, bot } = desk.place;
      const id = unique("wfl_");
      expect(await commit(desk, 0, create(desk, id))).toEqual({ status: "done", result });
      expect(await commit(desk, 0, create(desk, unique("wfl_"), { name: "Other" }))).toEqual({
        status: "done",
        result,
      });
      expect(await own(desk)).toMatchObject([{ id, name: "Mail", description: "when", version: 1 }]);
      const change = { id, botId: bot.id, version: 1, body: "better" };
      expect(await commit(desk, 1, { action: "edit", workflow: change, result })).toMatchObject({ status: "done" });
      expect(await store.readWorkflowBody(id)).toBe("better");
      expect(await own(desk)).toMatchObject([{ name: "Mail", version: 2 }]);
      expect(await commit(desk, 2, { action: "edit", workflow: change, result })).toEqual({ status: "changed" });
      const gone = { id, botId: bot.id, version: 2 };
      expect(await commit(desk, 2, { action: "delete", workflow: gone, result })).toMatchObject({ status: "done" });
      expect(await store.readWorkflowBody(id)).toBeNull();
      expect(await commit(desk, 3, { action: "delete", workflow: gone, result })).toEqual({ status: "unknown" });
      const view = await store.viewSession(desk.claim);
      expect(view.calls.map((call) => call.state).slice(0, 4)).toEqual(["done", "done", "done", "pending"]);
    });

    test("a name is taken for the same listeners only, there is a limit, and another bot's is unknown", async () => {
      const desk = await newDesk(world());
      const other = await newDesk(world());
      const id = unique("wfl_");
      await commit(desk, 0, create(desk, id));
      expect(await commit(desk, 1, create(desk, unique("wfl_"), { name: "MAIL" }))).toEqual({ status: "taken" });
      const elsewhere = create(desk, unique("wfl_"), { audience: "person(test:W:U)" });
      expect(await commit(desk, 1, elsewhere)).toMatchObject({ status: "done" });
      expect(await commit(desk, 2, create(desk, unique("wfl_"), { name: "Third", limit: 2 }))).toEqual({
        status: "limit",
      });
      const foreign = { id, botId: other.place.bot.id, version: 1 };
      expect(await commit(other, 0, { action: "delete", workflow: foreign, result })).toEqual({ status: "unknown" });
      expect(await own(desk)).toHaveLength(2);
    });

    test("a worker that has lost its claim changes nothing", async () => {
      const desk = await newDesk(world());
      const lost = { ...desk, claim: { ...desk.claim, fence: desk.claim.fence - 1 } };
      await expect(commit(lost, 0, create(desk, unique("wfl_")))).rejects.toThrow(FenceLostError);
      await expect(desk.place.store.tellSkills(lost.claim, {})).rejects.toThrow(FenceLostError);
      expect(await own(desk)).toEqual([]);
    });
  });

  describe("what a session was told of skills", () => {
    test("the list of a cycle is kept as it began, and only what was told moves", async () => {
      const { place, claim } = await newDesk(world());
      const { store } = place;
      expect(await store.keepSkills(claim, { text: "first", told: { a: "1" } })).toBe("first");
      expect(await store.keepSkills(claim, { text: "second", told: { b: "2" } })).toBe("first");
      expect((await store.viewSession(claim)).session).toMatchObject({ skills: "first", skillsTold: { a: "1" } });
      await store.tellSkills(claim, { c: "3" });
      expect((await store.viewSession(claim)).session).toMatchObject({ skills: "first", skillsTold: { c: "3" } });
    });

    test("an empty list is a list, and a fresh start forgets it", async () => {
      const { place, claim, turnId } = await newDesk(world());
      const { store } = place;
      expect(await store.keepSkills(claim, { text: "", told: {} })).toBe("");
      expect(await store.keepSkills(claim, { text: "late", told: { a: "1" } })).toBe("");
      await place.finish(claim, turnId);
      await store.startOver({ dedupeKey: unique("new"), conversationKey: place.key });
      const again = await place.reply(30);
      expect((await store.viewSession(again.claim)).session.skills).toBeUndefined();
    });
  });
}
