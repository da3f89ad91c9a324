/**
 * The way of one message through the store, operation by operation, in the order the engine calls them: taken in, claimed, answered with one
 * bubble, posted, finished. Behaves as the engine does, but no model and no platform is asked.
 */
import { claimTimes, noProgress, type TestPlace, unique } from "../test/engine/store/store-place.ts";

/** Measures one call under a name. */
export type Timed = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Lets one message come in and be answered. */
export async function walk(place: TestPlace, timed: Timed): Promise<void> {
  const { store } = place;
  const sessionId = await takeIn(place, timed);
  const request = { sessionId, owner: "bench", ...claimTimes };
  const { claim } = await timed("claim", () => store.claim(request));
  if (!claim) throw new Error("the session could not be claimed");
  const view = await timed("viewSession", () => store.viewSession(claim));
  const head = view.session.stateHead ?? null;
  const ids = view.due.flatMap((mail) => mail.entryId ?? []);
  const turnId = unique("t");
  await timed("readEntriesById", () => store.readEntriesById(ids));
  await timed("readEntries", () =>
    store.readEntries({ conversationKey: place.key, afterSeq: view.session.cursor, limit: 300 }),
  );
  if (head) await timed("loadState", () => store.loadState(sessionId, head));
  const input = {
    hash: unique("n"),
    parent: head,
    kind: "input" as const,
    message: { role: "user" as const, text: "words ".repeat(300) },
  };
  const mailIds = view.due.map((mail) => mail.id);
  const more = { nodes: [input], cursor: view.conversation.lastSeq };
  await timed("beginTurn", () => place.beginWith(claim, turnId, mailIds, more));
  await timed("commitReply", () => place.replyWith(claim, turnId, 1, 1, input.hash));
  await speak(place, timed, claim, turnId);
  await timed("renew", () => store.renew(claim, claimTimes.leaseMs));
  await timed("finishTurn", () => place.finish(claim, turnId));
  await timed("dueSessions (sweep)", () => store.dueSessions(200));
  await timed("dueChannels (sweep)", () => store.dueChannels(200));
}

async function takeIn(place: TestPlace, timed: Timed): Promise<string> {
  const { store, ref, key, installation } = place;
  const event = place.event("hello");
  const query = { dedupeKey: event.dedupeKey, conversationKey: key, ref, installationId: installation.id };
  await timed("readPlace", () => store.readPlace(query));
  const taken = await timed("takeIn", () => store.takeIn(event));
  await timed("takeIn (duplicate)", () => store.takeIn(event));
  const sessionId = taken.status === "stored" ? taken.woken[0]?.sessionId : undefined;
  if (!sessionId) throw new Error(`the event was not stored: ${taken.status}`);
  return sessionId;
}

type Claim = Parameters<TestPlace["store"]["viewSession"]>[0];

async function speak(place: TestPlace, timed: Timed, claim: Claim, turnId: string): Promise<void> {
  const { store } = place;
  const call = { turnId, step: 1, index: 0 };
  const delivery = place.delivery();
  const { nativeChannel } = delivery;
  await timed("commitSend", () => store.commitSend(claim, call, delivery, noProgress));
  const request = { nativeChannel, owner: "bench", leaseMs: 30_000 };
  const sender = await timed("claimSender", () => store.claimSender(request));
  const next = await timed("nextPiece", () => store.nextPiece(nativeChannel));
  if (!sender || !next) throw new Error("there is nothing to post");
  await timed("startPiece", () => store.startPiece(sender, next.piece.id));
  const receipt = { nativeId: unique("n") };
  await timed("closePiece", () => store.closePiece(sender, next.piece.id, { to: "sent", receipt }));
  await timed("sendState", () => store.sendState(delivery.entryId));
  await timed("releaseSender", () => store.releaseSender(sender));
  await timed("commitCall", () => store.commitCall(claim, call, { ok: true, text: "delivered" }, noProgress));
}
