/** Reading the transcript, context from before first contact, and other conversations by name (SPEC I4, M3, M8). */
import { expect, test } from "vitest";
import { channelRowId } from "../../../src/engine/conversation.ts";
import type { NewEntry } from "../../../src/engine/store/store.ts";
import { newPlace, noProgress, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

export function testTranscript(world: () => StoreWorld): void {
  test("a range of entries is its newest part, oldest first", async () => {
    const place = await newPlace(world().store);
    for (let i = 1; i <= 6; i += 1) await place.say(`m${i}`);
    const texts = async (range: object) =>
      (await place.store.readEntries({ conversationKey: place.key, limit: 2, ...range })).map((entry) => entry.text);
    expect(await texts({})).toEqual(["m5", "m6"]);
    expect(await texts({ beforeSeq: 5 })).toEqual(["m3", "m4"]);
    expect(await texts({ afterSeq: 1, beforeSeq: 3 })).toEqual(["m2"]);
    expect(await texts({ afterSeq: 6 })).toEqual([]);
  });

  test("an entry is found by its address, in its own conversation only", async () => {
    const place = await newPlace(world().store);
    const { entry } = await place.say("hello");
    await place.beside().say("elsewhere");
    expect(await place.store.readEntry(place.key, "t1u")).toEqual(entry);
    expect(await place.store.readEntry(place.key, "t2u")).toBeNull();
  });

  test("context from before first contact has no address, is loaded once, and skips what is known", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.reply();
    await place.store.commitSend(claim, { turnId, step: 1, index: 0 }, place.delivery(), noProgress);
    const sender = await place.store.claimSender({
      nativeChannel: place.delivery().nativeChannel,
      owner: "s",
      leaseMs: 30_000,
    });
    const next = await place.store.nextPiece(place.delivery().nativeChannel);
    if (!sender || !next) throw new Error("nothing to send");
    await place.store.closePiece(sender, next.piece.id, { to: "sent", receipt: { nativeId: "own" } });
    const old = (platformId: string): NewEntry => ({
      author: { kind: "person", id: place.bob.id, name: "Bob" },
      kind: "context",
      platformId,
      at: new Date("2026-01-01T00:00:00Z"),
      text: platformId,
      body: {},
      files: [],
    });
    await place.store.addContext(place.key, [old("root"), old("reply"), old("own")]);
    await place.store.addContext(place.key, [old("root")]);
    const entries = await place.store.readEntries({ conversationKey: place.key, limit: 50 });
    expect(entries.filter((entry) => entry.kind === "context").map((entry) => [entry.text, entry.address])).toEqual([
      ["root", undefined],
      ["reply", undefined],
    ]);
    expect((await place.store.viewSession(claim)).conversation.contextLoaded).toBe(true);
  });

  test("context for a conversation that does not exist is an error", async () => {
    const place = await newPlace(world().store);
    await expect(place.store.addContext("nowhere", [])).rejects.toThrow(/nowhere/);
  });

  test("native ids of a message are those of its pieces, or the person's own", async () => {
    const place = await newPlace(world().store);
    await place.say("hello", { platformId: "m1" });
    expect(await place.store.nativeIdsOf(place.key, "t1u")).toEqual(["m1"]);
    expect(await place.store.nativeIdsOf(place.key, "t9u")).toEqual([]);
  });

  test("a channel is found by name with or without its sign, or by id, if the bot is a member", async () => {
    const place = await newPlace(world().store);
    const ref = { ...place.ref, channelName: "Général" };
    await place.store.addMembers(ref, [place.bot.id], { replyMode: "channel", audience: "all" });
    const target = { conversationKey: place.key, ref: { ...place.ref, channelName: "Général" } };
    for (const text of ["#général", "Général", place.ref.channelId]) expect(await find(text)).toEqual([target]);
    expect(await find("@général")).toEqual([]);
    await place.store.removeMember(channelRowId(ref), place.bot.id);
    expect(await find("#général")).toEqual([]);

    function find(text: string) {
      const { platform, workspaceId } = place.ref;
      return place.store.findTargets({ botId: place.bot.id, platform, workspaceId, text });
    }
  });

  test("a direct message is found by the person's name or id", async () => {
    const place = await newPlace(world().store, { kind: "direct" });
    await place.say("hello");
    const target = { conversationKey: place.key, ref: place.ref, personId: place.ann.id };
    for (const text of ["@Ann", "ann", place.ann.id]) expect(await find(text)).toEqual([target]);
    expect(await find("#ann")).toEqual([]);
    expect(await find("@Bob")).toEqual([]);

    function find(text: string) {
      const { platform, workspaceId } = place.ref;
      return place.store.findTargets({ botId: place.bot.id, platform, workspaceId, text });
    }
  });

  test("mail shows its author by the name they had when they wrote", async () => {
    const place = await newPlace(world().store);
    const first = await place.say("hello", { platformId: "m1" });
    expect(first.entry?.author.name).toBe("Ann");
    await place.say("again", { by: { ...place.ann, name: "Anna" } });
    const view = await place.store.viewSession(await place.claim(first.woken[0]?.sessionId ?? ""));
    expect(view.due.map((mail) => mail.authorName)).toEqual(["Ann", "Anna"]);
  });

  test("a bot's mail carries the bot's name", async () => {
    const place = await newPlace(world().store);
    const sessionId = await place.wake();
    const mail = place.mailOf({ kind: "bot", authorId: place.bot.id, body: { type: "host", text: "note" } });
    await place.store.postMail({ sessionId, mail, dedupeKey: unique("d") });
    const view = await place.store.viewSession(await place.claim(sessionId));
    expect(view.due.map((item) => item.authorName)).toEqual(["Ann", "Ada"]);
  });
}
