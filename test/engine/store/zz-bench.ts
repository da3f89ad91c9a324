import { claimTimes, newPlace, noProgress, unique } from "./store-place.ts";
import { openOnEmbedded, openOnServer } from "./store-world.ts";

const world = await (process.argv[2] === "embedded" ? openOnEmbedded() : openOnServer());
const N = 300;
const times: Record<string, number[]> = {};
async function t<T>(name: string, f: () => Promise<T>): Promise<T> {
  const s = performance.now();
  const r = await f();
  (times[name] ??= []).push(performance.now() - s);
  return r;
}
const place = await newPlace(world.store);
const s = place.store;
const parent: string | null = null;
for (let i = 0; i < N; i++) {
  const ev = place.event("hello", {});
  await t("readPlace", () =>
    s.readPlace({
      dedupeKey: ev.dedupeKey,
      conversationKey: place.key,
      ref: place.ref,
      installationId: place.installation.id,
    }),
  );
  const r = await t("takeIn", () => s.takeIn(ev));
  if (i % 5 === 0) await t("takeIn duplicate", () => s.takeIn(ev));
  const sid = r.status === "stored" ? r.woken[0]!.sessionId : "";
  const claim = (await t("claim", () => s.claim({ sessionId: sid, owner: "w", ...claimTimes }))).claim!;
  const view = await t("viewSession", () => s.viewSession(claim));
  const turnId = unique("t");
  await t("beginTurn", () =>
    place.beginWith(
      claim,
      turnId,
      view.due.map((m) => m.id),
    ),
  );
  await t("commitInput", () =>
    s.commitInput(claim, {
      turnId,
      nodes: [{ hash: unique("n"), parent, kind: "input", message: { role: "user", text: "x".repeat(2000) } }],
      mailIds: [],
      cursor: i,
      progress: noProgress,
    }),
  );
  await t("commitReply", () => place.replyWith(claim, turnId, 1, 1));
  const d = place.delivery({ personCount: i + 1 });
  await t("commitSend", () => s.commitSend(claim, { turnId, step: 1, index: 0 }, d, noProgress));
  const sender = (await t("claimSender", () =>
    s.claimSender({ nativeChannel: d.nativeChannel, owner: "o", leaseMs: 30000 }),
  ))!;
  const next = (await t("nextPiece", () => s.nextPiece(d.nativeChannel)))!;
  await t("startPiece", () => s.startPiece(sender, next.piece.id));
  await t("closePiece", () => s.closePiece(sender, next.piece.id, { to: "sent", receipt: { nativeId: unique("n") } }));
  await t("commitCall", () =>
    s.commitCall(claim, { turnId, step: 1, index: 0 }, { ok: true, text: "delivered" }, noProgress),
  );
  await t("renew", () => s.renew(claim, 15000));
  await t("readEntries 50", () => s.readEntries({ conversationKey: place.key, limit: 50 }));
  await t("finishTurn", () => place.finish(claim, turnId));
  await t("sweeps (all 5, idle)", async () => {
    await s.dueSessions(50);
    await s.dueChannels(50);
    await s.owedSettles(20);
    await s.dueFiles(20);
    await s.expireCards();
  });
}
const pad = (x: string | number, n: number) => String(x).padEnd(n);
for (const [name, list] of Object.entries(times)) {
  list.sort((a, b) => a - b);
  console.log(
    pad(name, 22),
    "p50",
    pad(list[Math.floor(list.length * 0.5)]!.toFixed(2), 7),
    "p95",
    pad(list[Math.floor(list.length * 0.95)]!.toFixed(2), 7),
    "max",
    list.at(-1)!.toFixed(1),
  );
}
const par = await Promise.all(Array.from({ length: 16 }, () => newPlace(s)));
const start = performance.now();
await Promise.all(
  par.map(async (p) => {
    for (let i = 0; i < 50; i++) await p.store.takeIn(p.event("x", { mailLimit: 100 }));
  }),
);
console.log("takeIn, 16 at once:", Math.round(800 / ((performance.now() - start) / 1000)), "/s");
await world.close();
