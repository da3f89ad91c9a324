/** Cards: one winner, secrets with the claim, late clicks without a trace (SPEC C1–C5). */
import { expect, test } from "vitest";
import type { SealedSecret } from "../../../src/engine/store/store.ts";
import type { TestPlace } from "./store-place.ts";
import { newPlace, noProgress, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

export function testCards(world: () => StoreWorld): void {
  test("an answer closes the card, becomes the next entry and wakes the card's session", async () => {
    const { place, cardId, sessionId } = await withCard(world().store);
    const result = await place.store.takeIn(place.answer(cardId));
    expect(result).toMatchObject({
      status: "stored",
      woken: [{ sessionId, rank: 0 }],
      entry: { kind: "answer", address: "t2u" },
    });
    expect(await place.store.readCard(cardId)).toMatchObject({
      state: "answered",
      answeredBy: place.ann.id,
      answeredByName: "Ann",
      answer: { values: ["yes"] },
    });
  });

  test("fifty answers at once through two processes have one winner", async () => {
    const { place, cardId } = await withCard(world().store);
    const other = place.through(await world().openAnother());
    const clicks = Array.from({ length: 50 }, (_, i) => (i % 2 ? place : other).store.takeIn(place.answer(cardId)));
    const statuses = (await Promise.all(clicks)).map((result) => result.status);
    expect(statuses.filter((status) => status === "stored")).toHaveLength(1);
    expect(statuses.filter((status) => status === "late")).toHaveLength(49);
  });

  test("the same click delivered twice is a duplicate, another click is late", async () => {
    const { place, cardId } = await withCard(world().store);
    const click = place.answer(cardId);
    expect(await place.store.takeIn(click)).toMatchObject({ status: "stored" });
    expect(await place.store.takeIn(click)).toEqual({ status: "duplicate" });
    expect(await place.store.takeIn(place.answer(cardId))).toMatchObject({
      status: "late",
      card: { id: cardId, state: "answered" },
    });
  });

  test("a late click leaves nothing behind and is late again when repeated", async () => {
    const { place, cardId } = await withCard(world().store);
    await place.store.takeIn(place.answer(cardId));
    const before = await place.store.readEntries({ conversationKey: place.key, limit: 50 });
    const late = place.answer(cardId, {}, { by: place.bob });
    expect(await place.store.takeIn(late)).toMatchObject({ status: "late" });
    expect(await place.store.takeIn(late)).toMatchObject({ status: "late" });
    expect(await place.store.readEntries({ conversationKey: place.key, limit: 50 })).toEqual(before);
  });

  test("a click on a card nobody knows is late without a card", async () => {
    const place = await newPlace(world().store);
    expect(await place.store.takeIn(place.answer("nowhere"))).toEqual({ status: "late", card: undefined });
    const view = await place.store.readPlace({
      dedupeKey: "x",
      conversationKey: place.key,
      ref: place.ref,
      installationId: place.installation.id,
    });
    expect(view.conversation).toBeUndefined();
  });

  test("a card expires when it should, whatever the time zones are", async () => {
    const { place, cardId } = await withCard(world().store, { ttlMs: 600_000 });
    const left = ((await place.store.readCard(cardId))?.expiresAt?.getTime() ?? 0) - Date.now();
    expect(left).toBeGreaterThan(540_000);
    expect(left).toBeLessThanOrEqual(601_000);
    expect((await readOpen(place)).map((card) => card.id)).toEqual([cardId]);
  });

  test("an expired card is not open, whoever looks first", async () => {
    const { place, cardId } = await withCard(world().store, { ttlMs: -1 });
    expect((await readOpen(place)).map((card) => card.id)).toEqual([]);
    expect(await place.store.takeIn(place.answer(cardId))).toMatchObject({
      status: "late",
      card: { state: "expired" },
    });
  });

  test("the sweep expires cards once and owes their redrawing", async () => {
    const { place, cardId } = await withCard(world().store, { ttlMs: -1 });
    expect(await place.store.expireCards()).toBeGreaterThanOrEqual(1);
    expect(await place.store.readCard(cardId)).toMatchObject({ state: "expired" });
    expect(await owed(place, cardId)).toMatchObject({ outcome: { cardId, state: "expired" } });
  });

  test("typed text skips a card, which stays answerable", async () => {
    const { place, cardId } = await withCard(world().store);
    await place.say("something else", { skip: [cardId] });
    expect(await readOpen(place)).toMatchObject([{ id: cardId, skipped: true }]);
    expect(await place.store.takeIn(place.answer(cardId))).toMatchObject({ status: "stored" });
  });

  test("a card that is dismissed when the person moves on is closed and redrawn", async () => {
    const { place, cardId } = await withCard(world().store);
    await place.say("something else", { dismiss: [cardId] });
    expect(await place.store.readCard(cardId)).toMatchObject({ state: "dismissed", skipped: true });
    expect(await owed(place, cardId)).toMatchObject({ outcome: { state: "dismissed" } });
  });

  test("a closed card is owed to one process at a time, with everything needed to redraw it", async () => {
    const { place, cardId } = await withCard(world().store);
    await place.store.takeIn(place.answer(cardId));
    const first = await owed(place, cardId);
    expect(first).toMatchObject({
      outcome: { cardId, state: "answered", byName: "Ann", byPlatformId: "U1", answer: { labels: ["yes"] } },
      deliveryBody: { kind: "bubble" },
      place: { ref: place.ref },
      platform: "test",
      attempts: 0,
    });
    expect(first?.receipts).toEqual([{ nativeId: expect.stringMatching(/^n/) }]);
    expect(await owed(place, cardId)).toBeUndefined();
    await place.store.closeSettle(cardId, { done: false, delayMs: 0 });
    expect(await owed(place, cardId)).toMatchObject({ attempts: 1 });
    await place.store.closeSettle(cardId, { done: true });
    expect(await owed(place, cardId)).toBeUndefined();
  });

  test("a card that is answered while its message is still under way is redrawn only after it landed", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.reply();
    const card = place.card();
    const delivery = place.delivery({ card });
    await place.store.commitSend(claim, { turnId, step: 1, index: 0 }, delivery, noProgress);
    await place.store.takeIn(place.answer(card.id));
    expect(await owed(place, card.id)).toBeUndefined();
    expect(await land(place, delivery.nativeChannel)).toMatchObject({ entryClosed: true, settleOwed: true });
    expect(await owed(place, card.id)).toBeDefined();
  });

  test("an answer is taken in even when the mailbox is full", async () => {
    const { place, cardId } = await withCard(world().store);
    await place.say("one");
    const result = await place.store.takeIn({ ...place.answer(cardId), mailLimit: 1 });
    expect(result).toMatchObject({ status: "stored", full: [], woken: [{ rank: 0 }] });
  });

  test("a secret is kept with the answer and the one before it is revoked", async () => {
    const { place, cardId, sessionId } = await withCard(world().store);
    const where = { botId: place.bot.id, connector: "github", field: "token" };
    await place.store.takeIn(place.answer(cardId, { answer: undefined, secret: sealed(place, 1) }));
    expect(await place.store.readSecret(where)).toEqual(sealed(place, 1));
    const next = await addCard(place, sessionId);
    await place.store.takeIn(place.answer(next, { answer: undefined, secret: sealed(place, 2) }));
    expect(await place.store.readSecret(where)).toEqual(sealed(place, 2));
    expect(await place.store.listSecrets(place.bot.orgId)).toEqual([sealed(place, 2)]);
    expect(await place.store.revokeSecret(where)).toBe(true);
    expect(await place.store.readSecret(where)).toBeNull();
    expect(await place.store.revokeSecret(where)).toBe(false);
  });

  test("a one-time link opens once, and only with its card", async () => {
    const { place, cardId, sessionId } = await withCard(world().store);
    const tokenHash = unique("hash");
    await place.store.createSecretLink({ tokenHash, cardId, ttlMs: 60_000 });
    expect(await place.store.readSecretLink(tokenHash)).toMatchObject({ id: cardId });
    await place.say("again");
    const other = await addCard(place, sessionId);
    expect(await place.store.takeIn(place.answer(other, { tokenHash }))).toMatchObject({
      status: "late",
      card: { state: "open" },
    });
    expect(await place.store.takeIn(place.answer(cardId, { tokenHash }))).toMatchObject({ status: "stored" });
    expect(await place.store.readSecretLink(tokenHash)).toBeNull();
  });

  test("an expired link opens nothing", async () => {
    const { place, cardId } = await withCard(world().store);
    const tokenHash = unique("hash");
    await place.store.createSecretLink({ tokenHash, cardId, ttlMs: -1 });
    expect(await place.store.readSecretLink(tokenHash)).toBeNull();
    expect(await place.store.takeIn(place.answer(cardId, { tokenHash }))).toMatchObject({
      status: "late",
      card: { state: "open" },
    });
  });
}

function sealed(place: TestPlace, n: number): SealedSecret {
  const bytes = (length: number) => new Uint8Array(length).fill(n + 250);
  const where = { botId: place.bot.id, connector: "github", field: "token", keyId: "k1", personId: place.ann.id };
  return { ...where, nonce: bytes(12), ciphertext: bytes(40), tag: bytes(16) };
}

/** A card on the platform whose turn has ended. */
async function withCard(store: TestPlace["store"], more: { ttlMs?: number } = {}) {
  const place = await newPlace(store);
  const sessionId = await place.wake();
  return { place, sessionId, cardId: await addCard(place, sessionId, more) };
}

async function addCard(place: TestPlace, sessionId: string, more: { ttlMs?: number } = {}): Promise<string> {
  const { claim, turnId } = await place.begin(sessionId);
  await place.replyWith(claim, turnId, 1, 1);
  const card = place.card({ sessionId, turnId, ...more });
  const delivery = place.delivery({ card });
  await place.store.commitSend(claim, { turnId, step: 1, index: 0 }, delivery, {
    ...noProgress,
    waitingCardId: card.id,
  });
  await land(place, delivery.nativeChannel);
  await place.finish(claim, turnId, { outcome: "waiting" });
  return card.id;
}

async function land(place: TestPlace, nativeChannel: string) {
  const sender = await place.store.claimSender({ nativeChannel, owner: unique("s"), leaseMs: 30_000 });
  const next = await place.store.nextPiece(nativeChannel);
  if (!sender || !next) throw new Error("nothing to send");
  await place.store.startPiece(sender, next.piece.id);
  const closed = await place.store.closePiece(sender, next.piece.id, {
    to: "sent",
    receipt: { nativeId: unique("n") },
  });
  await place.store.releaseSender(sender);
  return closed;
}

async function readOpen(place: TestPlace) {
  const { key, ref, installation } = place;
  return (await place.store.readPlace({ dedupeKey: "x", conversationKey: key, ref, installationId: installation.id }))
    .openCards;
}

async function owed(place: TestPlace, cardId: string) {
  return (await place.store.owedSettles(100)).find((item) => item.card.id === cardId);
}
