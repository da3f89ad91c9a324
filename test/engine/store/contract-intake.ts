/** Intake: each event once, whoever brings it and how often (SPEC T1, M8, I4b, G10). */
import { expect, test } from "vitest";
import { channelRowId } from "../../../src/engine/conversation.ts";
import { newPlace, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

export function testIntake(world: () => StoreWorld): void {
  test("a message becomes one entry, one session and one piece of mail", async () => {
    const place = await newPlace(world().store);
    const { entry, woken, full } = await place.say("hello", { platformId: "m1" });
    expect(entry).toMatchObject({ seq: 1, address: "t1u", platformId: "m1", text: "hello", kind: "message" });
    expect(entry?.author).toEqual({ kind: "person", id: place.ann.id, name: "Ann" });
    expect(woken).toEqual([{ sessionId: expect.any(String), rank: 0 }]);
    expect(full).toEqual([]);
  });

  test("the next message of people gets the next number", async () => {
    const place = await newPlace(world().store);
    await place.say("one");
    const { entry } = await place.say("two", { by: place.bob });
    expect(entry).toMatchObject({ seq: 2, address: "t2u" });
  });

  test("the same event again is a duplicate and changes nothing", async () => {
    const place = await newPlace(world().store);
    await place.say("hello", { platformId: "m1" });
    expect(await place.store.takeIn(place.event("hello", { platformId: "m1" }))).toEqual({ status: "duplicate" });
    expect(await place.store.readEntries({ conversationKey: place.key, limit: 10 })).toHaveLength(1);
  });

  test("a hundred copies at once through two processes give one entry and one wake", async () => {
    const place = await newPlace(world().store);
    const other = place.through(await world().openAnother());
    const copies = Array.from({ length: 100 }, (_, i) =>
      (i % 2 ? place : other).store.takeIn(place.event("hello", { platformId: "m1" })),
    );
    const results = await Promise.all(copies);
    expect(results.filter((result) => result.status === "stored")).toHaveLength(1);
    expect(results.filter((result) => result.status === "duplicate")).toHaveLength(99);
    expect(await place.store.readEntries({ conversationKey: place.key, limit: 200 })).toHaveLength(1);
  });

  test("different messages at once get different numbers without a gap", async () => {
    const place = await newPlace(world().store);
    const results = await Promise.all(Array.from({ length: 40 }, (_, i) => place.say(`message ${i}`)));
    const addresses = results.map((result) => result.entry?.address).sort();
    expect(addresses).toEqual(Array.from({ length: 40 }, (_, i) => `t${i + 1}u`).sort());
  });

  test("an ignored copy does not keep a better copy from being stored", async () => {
    const place = await newPlace(world().store);
    const event = place.event("hello", { platformId: "m1" });
    expect(await place.store.takeIn({ ...event, outcome: "ignored" })).toEqual({ status: "ignored" });
    expect(await place.store.takeIn(event)).toMatchObject({ status: "stored", entry: { address: "t1u" } });
    expect(await place.store.takeIn({ ...event, outcome: "ignored" })).toEqual({ status: "duplicate" });
  });

  test("an ignored event leaves no conversation behind", async () => {
    const place = await newPlace(world().store);
    await place.store.takeIn(place.event("hello", { outcome: "ignored", dedupeKey: "gone" }));
    const view = await place.store.readPlace({
      dedupeKey: "gone",
      conversationKey: place.key,
      ref: place.ref,
      installationId: place.installation.id,
    });
    expect(view.conversation).toBeUndefined();
    expect(view.mark).toBe("ignored");
  });

  test("a message known as context becomes a real one, not a second entry", async () => {
    const place = await newPlace(world().store);
    await place.say("first");
    await place.store.addContext(place.key, [contextOf(place.event("earlier", { platformId: "m0" }))]);
    const { entry } = await place.say("earlier", { platformId: "m0" });
    const entries = await place.store.readEntries({ conversationKey: place.key, limit: 10 });
    expect(entries.map((item) => [item.text, item.kind, item.address])).toEqual([
      ["first", "message", "t1u"],
      ["earlier", "message", "t2u"],
    ]);
    expect(entry?.id).toBe(entries[1]?.id);
  });

  test("a message stored without being addressed keeps its entry when a later copy wakes a bot", async () => {
    const place = await newPlace(world().store);
    await place.say("first");
    const before = await place.say("psst", { platformId: "m1", mail: null });
    const after = await place.say("psst", { platformId: "m1", dedupeKey: unique("other") });
    expect(before.woken).toEqual([]);
    expect(after.entry).toEqual(before.entry);
    expect(after.woken).toHaveLength(1);
  });

  test("a full mailbox keeps the message but says which bot takes no more", async () => {
    const place = await newPlace(world().store);
    for (let i = 0; i < 3; i += 1) await place.say(`message ${i}`, { mailLimit: 3 });
    const over = await place.say("one more", { mailLimit: 3 });
    expect(over).toMatchObject({ woken: [], full: [place.bot.id], entry: { address: "t4u" } });
  });

  test("a reply to a person's message carries its address into the mail", async () => {
    const place = await newPlace(world().store);
    await place.say("question", { platformId: "m1" });
    const { entry, woken } = await place.say("more", { platformId: "m2", replyTo: "m1" });
    expect(entry?.replyTo).toBe("t1u");
    const view = await place.store.viewSession(await place.claim(woken[0]?.sessionId ?? ""));
    expect(view.due[1]?.body).toMatchObject({ type: "message", replyTo: "t1u" });
  });

  test("one event wakes several bots of a channel", async () => {
    const place = await newPlace(world().store);
    const other = await newPlace(world().store);
    const { woken } = await place.say("both of you", { botIds: [place.bot.id, other.bot.id] });
    expect(new Set(woken.map((item) => item.sessionId)).size).toBe(2);
    const view = await place.store.readPlace({
      dedupeKey: "x",
      conversationKey: place.key,
      ref: place.ref,
      installationId: place.installation.id,
    });
    expect(view.sessions.map((item) => item.botId).sort()).toEqual([place.bot.id, other.bot.id].sort());
  });

  test("a channel keeps the reply mode of first contact and unites its members", async () => {
    const place = await newPlace(world().store);
    await place.say("one", { channel: { members: ["a"], replyMode: "thread", audience: "all" } });
    await place.say("two", { channel: { members: ["b"], replyMode: "channel", audience: "all" } });
    const { channel } = await place.store.readPlace({
      dedupeKey: "x",
      conversationKey: place.key,
      ref: place.ref,
      installationId: place.installation.id,
    });
    expect(channel?.replyMode).toBe("thread");
    expect([...(channel?.members ?? [])].sort()).toEqual(["a", "b"]);
  });

  test("a bot that left a channel is no longer one of its members", async () => {
    const place = await newPlace(world().store);
    const defaults = { replyMode: "channel" as const, audience: "all" };
    await place.store.addMembers(place.ref, ["gone", place.bot.id], defaults);
    await place.store.removeMember(channelRowId(place.ref), "gone");
    const view = await place.store.readPlace({
      dedupeKey: "x",
      conversationKey: place.key,
      ref: place.ref,
      installationId: place.installation.id,
    });
    expect(view.channel?.members).toEqual([place.bot.id]);
    expect(view.bots).toEqual([{ bot: place.bot, installation: place.installation }]);
  });

  test("text that the database cannot hold is stored with a replacement character", async () => {
    const place = await newPlace(world().store);
    const { entry } = await place.say("nul \u0000 half \ud83d end \\u0000 \ud83d\ude00");
    expect(entry?.text).toBe("nul \ufffd half \ufffd end \\u0000 \ud83d\ude00");
  });

  test("times keep their instant whatever the time zones are", async () => {
    const place = await newPlace(world().store);
    const at = new Date("2026-03-29T01:30:00.123Z");
    const { entry, woken } = await place.say("in the gap", { at });
    expect(entry?.at).toEqual(at);
    const [read] = await place.store.readEntries({ conversationKey: place.key, limit: 1 });
    expect(read?.at).toEqual(at);
    const view = await place.store.viewSession(await place.claim(woken[0]?.sessionId ?? ""));
    expect(view.due[0]?.orderAt).toEqual(at);
  });

  test("files of a message are pending until fetched, then the entry shows them", async () => {
    const place = await newPlace(world().store);
    const id = unique("f");
    const pending = {
      sha256: "",
      ext: "",
      name: "a.png",
      mediaType: "image/png",
      size: 5,
      state: "pending" as const,
      fileId: id,
    };
    const event = place.event("look", {
      files: [{ id, name: "a.png", mediaType: "image/png", size: 5, source: { url: "x" }, audience: "all" }],
    });
    await place.store.takeIn({ ...event, entry: event.entry && { ...event.entry, files: [pending] } });
    const due = await place.store.dueFiles(100);
    expect(due.find((file) => file.id === id)).toEqual({
      id,
      name: "a.png",
      mediaType: "image/png",
      size: 5,
      source: { url: "x" },
      audience: "all",
      attempts: 0,
    });
    expect((await place.store.dueFiles(100)).find((file) => file.id === id)).toBeUndefined();
    const file = { sha256: "ab".repeat(32), ext: "png", name: "a.png", mediaType: "image/png", size: 5 };
    await place.store.closeFile(id, { state: "stored", file });
    const [entry] = await place.store.readEntries({ conversationKey: place.key, limit: 1 });
    expect(entry?.files).toEqual([{ ...file, fileId: id }]);
  });

  test("a file that could not be fetched is tried again later, and given up with its reason", async () => {
    const place = await newPlace(world().store);
    const id = unique("f");
    await place.say("look", { files: [{ id, name: "a.bin", source: {}, audience: "all" }] });
    await place.store.dueFiles(100);
    await place.store.closeFile(id, { state: "pending", delayMs: 0 });
    expect((await place.store.dueFiles(100)).find((file) => file.id === id)?.attempts).toBe(1);
    await place.store.closeFile(id, { state: "failed", text: "gone" });
    expect(await place.store.fileStates([id])).toMatchObject([{ fileId: id, state: "failed", name: "a.bin" }]);
  });
}

function contextOf(event: ReturnType<Awaited<ReturnType<typeof newPlace>>["event"]>) {
  if (!event.entry) throw new Error("no entry");
  return { ...event.entry, kind: "context" as const };
}
