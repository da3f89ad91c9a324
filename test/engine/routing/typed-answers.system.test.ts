/** Words typed while a question is open: an answer, or an ordinary message that passes it over (SPEC C4). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Widget } from "../../../src/engine/card.ts";
import { openOnEmbedded, type StoreWorld } from "../store/store-world.ts";
import { newRoom } from "./rooms.ts";
import type { Room } from "./routing-world.ts";

let opened: StoreWorld | undefined;
const world = () => opened ?? expect.fail("not open");
beforeAll(async () => {
  opened = await openOnEmbedded();
});
afterAll(() => opened?.close());

const ADA = "<@U_ADA|Ada>";
const yesNo = (more: Partial<Widget> = {}): Widget => ({
  prompt: "Go?",
  options: ["Yes", "No"].map((label) => ({ label, value: `v-${label}`, style: "default" as const })),
  allowCustom: false,
  dismissOnMoveOn: false,
  ...more,
});

/** Ann asked something in a thread and Ada answered with a card. */
async function asked(more: Partial<Widget> = {}, where: "thread" | "direct" = "thread") {
  const room = await newRoom(world());
  await (where === "direct" ? room.writes("ann", "hello") : room.says("ann", `${ADA} hello`, { id: "1" }));
  const card = await room.ask({ widget: yesNo(more) });
  return { room, ...card };
}
const stateOf = async (room: Room, cardId: string) =>
  (await room.world.store.readCard(cardId)) ?? expect.fail("no card");
const newMail = async (room: Room) => (await room.mail()).slice(1);

describe("typed words while a question is open", () => {
  test.each([
    ["a label", "yes", "v-Yes"],
    ["a label behind the bot's mention", `${ADA} YES`, "v-Yes"],
    ["a label with a sign of space", " No\n", "v-No"],
  ])("that are %s are that choice", async (_name, text, value) => {
    const { room, cardId } = await asked();
    expect(await room.says("ann", text, { thread: "1" })).toEqual({ status: "accepted" });
    expect(await stateOf(room, cardId)).toMatchObject({ state: "answered", answer: { values: [value] } });
    expect(await newMail(room)).toEqual(["ada answer due"]);
  });

  test("in own words are the answer where those are allowed", async () => {
    const { room, cardId } = await asked({ allowCustom: true });
    await room.says("ann", "maybe tomorrow", { thread: "1" });
    expect(await stateOf(room, cardId)).toMatchObject({
      state: "answered",
      answer: { values: [], custom: "maybe tomorrow" },
    });
  });

  test("are an ordinary message otherwise, and the question is passed over but stays open", async () => {
    const { room, cardId, ref } = await asked();
    await room.says("ann", "something else", { thread: "1" });
    expect(await stateOf(room, cardId)).toMatchObject({ state: "open", skipped: true });
    expect(await newMail(room)).toEqual(["ada message due"]);
    expect(await room.clicks("ann", cardId, ["v-Yes"], ref)).toEqual({ status: "accepted" });
  });

  test("close a question that is to be closed when the person moves on", async () => {
    const { room, cardId, ref } = await asked({ dismissOnMoveOn: true });
    await room.says("ann", "something else", { thread: "1" });
    expect((await stateOf(room, cardId)).state).toBe("dismissed");
    expect(room.settles).toBe(1);
    expect(await room.clicks("ann", cardId, ["v-Yes"], ref)).toMatchObject({
      status: "refused",
      reason: expect.stringContaining("closed"),
    });
  });

  test("of somebody else leave it alone", async () => {
    const { room, cardId } = await asked({ allowCustom: true, dismissOnMoveOn: true });
    await room.says("bob", "yes", { thread: "1" });
    expect(await stateOf(room, cardId)).toMatchObject({ state: "open", skipped: false });
    expect(await newMail(room)).toEqual(["ada message due"]);
  });

  test.each([
    ["to another person", "<@U_BOB|Bob> yes"],
    ["to another bot", "<@U_BO|Bo Diddley> yes"],
  ])("%s are not an answer", async (_name, text) => {
    const { room, cardId } = await asked({ allowCustom: true });
    await room.event("membership", { platformId: "U_BO", change: "joined" });
    await room.says("ann", text, { thread: "1" });
    expect(await stateOf(room, cardId)).toMatchObject({ state: "open", skipped: false });
  });

  test("said to nobody in an open channel are an answer only when they name a choice", async () => {
    const room = await newRoom(world(), { replies: { test: "channel" } });
    await room.says("ann", `${ADA} hello`);
    const { cardId } = await room.ask({ widget: yesNo({ allowCustom: true }) });
    expect(await room.says("ann", "lunch, anyone?")).toEqual({ status: "ignored" });
    expect((await stateOf(room, cardId)).state).toBe("open");
    expect(await room.says("ann", "yes")).toEqual({ status: "accepted" });
    expect((await stateOf(room, cardId)).state).toBe("answered");
  });

  test("with a file are a message", async () => {
    const { room, cardId } = await asked({ allowCustom: true });
    await room.says("ann", "yes", { thread: "1", more: { files: [{ platformFileId: "F1", name: "a.png" }] } });
    expect((await stateOf(room, cardId)).state).toBe("open");
  });

  test("of which two copies come answer once", async () => {
    const { room } = await asked();
    const all = await Promise.all(
      [{}, { namesBot: true }].map((more) => room.says("ann", "yes", { id: "2", thread: "1", more })),
    );
    expect(all.map((one) => one.status).filter((status) => status === "accepted").length).toBe(1);
    expect((await room.kept()).filter((text) => text === "yes")).toHaveLength(1);
    expect(await newMail(room)).toEqual(["ada answer due"]);
  });

  test("at the same instant as a click are not lost: one is the answer, the other is a message or refused", async () => {
    for (let i = 0; i < 10; i += 1) {
      const { room, cardId, ref } = await asked({}, "direct");
      const [typed, clicked] = await Promise.all([
        room.writes("ann", "yes"),
        room.clicks("ann", cardId, ["v-No"], ref),
      ]);
      expect(typed.status).toBe("accepted");
      const mail = await newMail(room);
      expect(clicked.status === "accepted" ? mail.sort() : mail).toEqual(
        clicked.status === "accepted" ? ["ada answer due", "ada message due"] : ["ada answer due"],
      );
    }
  });
});
