/** Bots, installations, small state of adapters, and tidying up. */
import { expect, test } from "vitest";
import { newPlace, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

export function testConfiguration(world: () => StoreWorld): void {
  test("bots follow the settings: changed ones rise in version, missing ones retire and may come back", async () => {
    const { store } = world();
    const orgId = unique("org");
    const ada = { id: unique("ada"), name: "Ada", role: "r", model: "m/m", lanes: 4 };
    const bob = { ...ada, id: unique("bob"), name: "Bob" };
    await store.syncBots(orgId, [ada, bob]);
    expect((await store.syncBots(orgId, [ada, bob])).map((bot) => bot.version)).toEqual([1, 1]);
    expect(await store.syncBots(orgId, [{ ...ada, name: "Ada L." }])).toMatchObject([{ name: "Ada L.", version: 2 }]);
    expect((await store.syncBots(orgId, [ada, bob])).map((bot) => bot.id).sort()).toEqual([ada.id, bob.id].sort());
    expect(await store.readBot(ada.id)).toMatchObject({ name: "Ada", orgId, version: 3 });
    expect(await store.readBot("nobody")).toBeNull();
  });

  test("what was changed at run time is not overwritten by the settings", async () => {
    const { store, pool } = world();
    const orgId = unique("org");
    const ada = { id: unique("ada"), name: "Ada", role: "r", model: "m/m", lanes: 4 };
    await store.syncBots(orgId, [ada]);
    await pool.query(`UPDATE "Bot" SET "source" = 'runtime', "name" = 'Ada the Great' WHERE "id" = $1`, [ada.id]);
    expect(await store.syncBots(orgId, [ada])).toMatchObject([{ name: "Ada the Great" }]);
    expect(await store.syncBots(orgId, [])).toMatchObject([{ name: "Ada the Great" }]);
  });

  test("several processes may synchronise the same settings at once", async () => {
    const { store, openAnother } = world();
    const other = await openAnother();
    const orgId = unique("org");
    const seeds = Array.from({ length: 5 }, (_, i) => ({
      id: unique(`b${i}`),
      name: `B${i}`,
      role: "r",
      model: "m/m",
      lanes: 4,
    }));
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? store : other).syncBots(orgId, seeds)),
    );
    for (const bots of results) expect(bots).toHaveLength(5);
  });

  test("an installation keeps its id when it is seen again", async () => {
    const place = await newPlace(world().store);
    const { orgId, botId, platform, appId, workspaceId } = place.installation;
    const seed = { botId, platform, appId, workspaceId, botUserId: "UNEW", otherIds: [], credentialRef: "vault" };
    const again = await place.store.saveInstallation(orgId, seed);
    expect(again).toEqual({ ...place.installation, botUserId: "UNEW", otherIds: [] });
    expect((await place.store.listInstallations()).find((item) => item.id === again.id)).toEqual(again);
  });

  test("keys are listed in order of code points, forwards and backwards, page by page", async () => {
    const keys = world().store.keyValues(unique("scope"));
    for (const key of ["a/10", "a/2", "a/B", "a/b", "b/1", "a/ä", "a_1"]) await keys.set(key, { key });
    const list = async (more: object) =>
      (await keys.list({ prefix: "a/", limit: 10, ...more })).map((item) => item.key);
    expect(await list({})).toEqual(["a/10", "a/2", "a/B", "a/b", "a/ä"]);
    expect(await list({ after: "a/2", limit: 2 })).toEqual(["a/B", "a/b"]);
    expect(await list({ reverse: true, after: "a/b", limit: 2 })).toEqual(["a/B", "a/2"]);
  });

  test("a key is inserted once and counts without giving a number twice", async () => {
    const { store, openAnother } = world();
    const scope = unique("scope");
    const stores = [store.keyValues(scope), (await openAnother()).keyValues(scope)];
    const inserted = await Promise.all(Array.from({ length: 20 }, (_, i) => stores[i % 2]?.insert("once", i)));
    expect(inserted.filter(Boolean)).toHaveLength(1);
    const numbers = await Promise.all(Array.from({ length: 20 }, (_, i) => stores[i % 2]?.increment("n")));
    expect(numbers.sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  test("a value can be read, changed and deleted, also when it is null or plain text", async () => {
    const keys = world().store.keyValues(unique("scope"));
    expect(await keys.get("x")).toBeUndefined();
    for (const value of [{ a: [1, "ü"] }, "text", 5, false, null]) {
      await keys.set("x", value);
      expect(await keys.get("x")).toEqual(value);
    }
    await keys.delete("x");
    expect(await keys.get("x")).toBeUndefined();
  });

  test("marks of events are forgotten only when they are a month old", async () => {
    const place = await newPlace(world().store);
    await place.say("old", { platformId: "old" });
    await place.say("new", { platformId: "new" });
    await world().pool.query(`UPDATE "InboundMark" SET "receivedAt" = now() - interval '31 days' WHERE "key" = $1`, [
      `${place.key}:old`,
    ]);
    await place.store.prune();
    expect((await place.store.takeIn(place.event("new", { platformId: "new" }))).status).toBe("duplicate");
    const { rows } = await world().pool.query(`SELECT 1 FROM "InboundMark" WHERE "key" = $1`, [`${place.key}:old`]);
    expect(rows).toEqual([]);
  });

  test("chatter is kept for thirty days; what a bot was asked stays", async () => {
    const place = await newPlace(world().store);
    await place.say("asked", { platformId: "asked" });
    for (const name of ["old chatter", "new chatter"])
      expect((await place.store.takeIn({ ...place.event(name, { platformId: name }), wake: [] })).status).toBe(
        "stored",
      );
    await world().pool.query(
      `UPDATE "Entry" SET "createdAt" = now() - interval '31 days' WHERE "conversationKey" = $1 AND "text" <> 'new chatter'`,
      [place.key],
    );
    await place.store.prune();
    const left = `SELECT "text" FROM "Entry" WHERE "conversationKey" = $1 ORDER BY "seq"`;
    const { rows } = await world().pool.query(left, [place.key]);
    expect(rows).toEqual([{ text: "asked" }, { text: "new chatter" }]);
  });

  test("the database answers", async () => {
    await expect(world().store.ping()).resolves.toBeUndefined();
  });
}
