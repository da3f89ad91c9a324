/** One message of a person to all bots (SPEC A3): taken in once, with mail for everybody, in one transaction. */
import { expect, test } from "vitest";
import { conversationKey, peerRef } from "../../../src/engine/conversation.ts";
import { newPlace, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

export function testBroadcast(world: () => StoreWorld): void {
  test("a message to all bots is taken in once, with mail for each of the others", async () => {
    const direct = (await newPlace(world().store)).beside("direct");
    const { store, bot, ann } = direct;
    const { id, name, role, model, lanes, orgId } = bot;
    const other = { id: unique("bo"), name: "Bo", role: "Works", model, lanes };
    await store.syncBots(orgId, [{ id, name, role, model, lanes }, other]);
    const asking = { orgId: bot.orgId, botId: bot.id, sessionId: "{session}", receiverId: other.id };
    const ref = peerRef(asking);
    const send = () =>
      store.broadcast({
        intake: direct.event("!broadcast freeze", { platformId: "m1" }),
        botId: bot.id,
        receivers: [{ botId: other.id, conversationKey: conversationKey(ref), ref }],
        sessionMark: "{session}",
        author: { id: ann.id, name: ann.name },
        text: "freeze",
        mail: {
          type: "peer",
          direction: "ask",
          root: "{session}",
          serves: { role: "admin", personIds: [ann.id], names: {} },
          isBroadcast: true,
        },
        audience: "test",
        mailLimit: 1,
      });
    const results = await Promise.all([send(), send(), send()]);
    expect(results.map((one) => one.status).sort()).toEqual(["duplicate", "duplicate", "stored"]);
    const sent = results.find((one) => one.status === "stored");
    if (sent?.status !== "stored") throw new Error("not stored");
    expect(sent).toMatchObject({ woken: [{ rank: 0 }], skipped: [] });
    const [mine] = sent.woken;
    const heard = await store.readSessionPlace(sent.sessionIds[0] ?? "");
    expect(heard?.ref).toMatchObject({ kind: "peer", threadId: mine?.sessionId });
    const entries = await store.readEntries({ conversationKey: heard?.conversationKey ?? "", limit: 5 });
    expect(entries).toMatchObject([{ text: "freeze", author: { kind: "person", name: "Ann" }, address: "t1u" }]);
  });
}
