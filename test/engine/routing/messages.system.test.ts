/** Messages through the front door: whom they wake, once in every order of copies, and what the host says when they cannot be taken (SPEC T1, I2, I4, I6, G10). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openOnEmbedded, type StoreWorld } from "../store/store-world.ts";
import { newRoom } from "./rooms.ts";

let opened: StoreWorld | undefined;
const world = () => opened ?? expect.fail("not open");
beforeAll(async () => {
  opened = await openOnEmbedded();
});
afterAll(() => opened?.close());

const ADA = "<@U_ADA|Ada>";
const BO = "<@U_BO|Bo Diddley>";

describe("a message", () => {
  test("with a mention wakes the bot, in the thread it opens, exactly once", async () => {
    const room = await newRoom(world());
    expect(await room.says("ann", `${ADA} hello`, { id: "1" })).toEqual({ status: "accepted" });
    expect(await room.says("ann", `${ADA} hello`, { id: "1" })).toEqual({ status: "duplicate" });
    expect(await room.mail()).toEqual(["ada message due"]);
    expect(await room.rows(`SELECT "conversationKey" AS key FROM "Session" WHERE "conversationKey" LIKE $1`)).toEqual([
      { key: `test:${room.workspaceId}:C1:1` },
    ]);
  });

  test("to nobody leaves nothing behind", async () => {
    const room = await newRoom(world());
    expect(await room.says("ann", "lunch?", { id: "1" })).toEqual({ status: "ignored" });
    expect([await room.mail(), await room.kept(), room.rung]).toEqual([[], [], []]);
  });

  test("in the bot's thread wakes it, and chatter to others is only remembered", async () => {
    const room = await newRoom(world());
    await room.says("ann", `${ADA} hello`, { id: "1" });
    expect(await room.says("bob", "and now?", { thread: "1" })).toEqual({ status: "accepted" });
    expect(await room.says("bob", "<@U_CY|Cy> look", { thread: "1" })).toEqual({ status: "ignored" });
    expect(await room.kept()).toEqual([`@Ada hello`, "and now?", "@Cy look"]);
    expect(await room.mail()).toEqual(["ada message due", "ada message due"]);
  });

  test("that reaches the bot in a direct message is always for it", async () => {
    const room = await newRoom(world());
    expect(await room.writes("ann", "hello")).toEqual({ status: "accepted" });
    expect(await room.mail()).toEqual(["ada message due"]);
  });

  test("of one of our own bots is nobody's", async () => {
    const room = await newRoom(world());
    for (const platformId of ["U_ADA", "B_ADA", "U_BO"]) {
      const from = { ...room.person("ada", "bot"), platformId };
      expect(await room.says("ada", `${ADA} hello`, { more: { from } })).toEqual({ status: "ignored" });
    }
    expect(await room.kept()).toEqual([]);
  });

  test("for an installation that is gone is refused", async () => {
    const room = await newRoom(world());
    expect(await room.says("ann", "hi", { more: { installationId: "gone" } })).toMatchObject({ status: "refused" });
  });
});

describe("two copies of one message", () => {
  const twins = [
    { name: "plain first", texts: [{}, { namesBot: true }] },
    { name: "named first", texts: [{ namesBot: true }, {}] },
  ];
  test.each(twins)("of which only one says that the bot is named wake it once: $name", async ({ texts }) => {
    const room = await newRoom(world());
    for (const more of texts) await room.says("ann", "hello", { id: "1", more });
    expect(await room.mail()).toEqual(["ada message due"]);
    expect(await room.kept()).toEqual(["hello"]);
  });

  test.each(twins)("in a thread where chatter is remembered wake it once too: $name", async ({ texts }) => {
    const room = await newRoom(world());
    await room.says("ann", `${ADA} hello`, { id: "1" });
    for (const more of texts)
      await room.says("bob", "<@U_CY|Cy> and you too", {
        id: "2",
        thread: "1",
        more: { ...more, ...(more.namesBot ? { mentions: [] } : {}) },
      });
    expect(await room.mail()).toEqual(["ada message due", "ada message due"]);
    expect(await room.kept()).toEqual(["@Ada hello", "@Cy and you too"]);
  });

  test("at the same instant are one, a hundred times", async () => {
    const room = await newRoom(world(), { limits: { mailPerSession: 1000 } });
    for (let i = 0; i < 100; i += 1) {
      const id = `m${i}`;
      const copies = [{ namesBot: i % 2 === 0 }, { namesBot: i % 2 === 1 }].map((more) =>
        room.writes("ann", "hello", { id, more }),
      );
      expect((await Promise.all(copies)).map((copy) => copy.status).sort()).toEqual(["accepted", "duplicate"]);
    }
    expect(await room.mail()).toHaveLength(100);
  });
});

describe("one message heard by two bots", () => {
  const orders = [
    ["ada", "bo"],
    ["bo", "ada"],
  ] as const;
  test.each(orders)("wakes only the one mentioned: %s first, then %s", async (...order) => {
    const room = await newRoom(world());
    for (const to of order) await room.says("ann", `${BO} look`, { id: "1", to });
    expect(await room.mail()).toEqual(["bo message due"]);
  });

  test.each(orders)("wakes the one mentioned in the other's thread: %s first, then %s", async (...order) => {
    const room = await newRoom(world());
    await room.says("ann", `${ADA} hello`, { id: "1" });
    for (const to of order) await room.says("ann", `${BO} look`, { id: "2", thread: "1", to });
    expect(await room.mail()).toEqual(["ada message due", "bo message due"]);
  });

  test.each(orders)("wakes both when both are mentioned for the first time: %s first, then %s", async (...order) => {
    const room = await newRoom(world());
    for (const to of [...order, ...order]) await room.says("ann", `${ADA} and ${BO} look`, { id: "1", to });
    expect((await room.mail()).sort()).toEqual(["ada message due", "bo message due"]);
    expect(await room.kept()).toEqual(["@Ada and @Bo Diddley look"]);
  });

  test("makes them a Group when both are known: one discussion, whichever copy comes", async () => {
    const room = await newRoom(world());
    for (const [platformId, to] of [
      ["U_ADA", "ada"],
      ["U_BO", "bo"],
    ] as const)
      await room.event("membership", { platformId, change: "joined", installationId: room.bots[to].id });
    await Promise.all((["ada", "bo"] as const).map((to) => room.says("ann", `${ADA} ${BO} look`, { id: "1", to })));
    expect(await room.mail()).toEqual(["ada discussion due"]);
    const [discussion] = await room.rows<{ order: string[] }>(
      `SELECT ARRAY(SELECT jsonb_array_elements_text("state"->'order')) AS "order" FROM "Discussion" WHERE "threadKey" LIKE $1`,
    );
    expect(discussion?.order).toHaveLength(1);
  });

  test("in a thread that follows both wakes both once", async () => {
    const room = await newRoom(world());
    for (const to of ["ada", "bo"] as const) await room.says("ann", `${ADA} ${BO} look`, { id: "1", to });
    for (const to of ["ada", "bo"] as const) await room.says("ann", "and now?", { id: "2", thread: "1", to });
    expect((await room.mail()).sort()).toEqual([
      "ada message due",
      "ada message due",
      "bo message due",
      "bo message due",
    ]);
  });
});

describe("membership", () => {
  test("of two bots that join at the same instant is kept for both", async () => {
    const room = await newRoom(world());
    await Promise.all(
      (["ada", "bo"] as const).map((to) =>
        room.event("membership", {
          platformId: `U_${to.toUpperCase()}`,
          change: "joined",
          installationId: room.bots[to].id,
        }),
      ),
    );
    const [channel] = await room.rows<{ members: string[]; replyMode: string }>(
      `SELECT "members", "replyMode" FROM "Channel" WHERE "id" || ':' LIKE $1`,
    );
    expect(channel?.members).toHaveLength(2);
    expect(channel?.replyMode).toBe("thread");
  });

  test("of a bot that left ends its part in threads", async () => {
    const room = await newRoom(world());
    for (const to of ["ada", "bo"] as const) await room.says("ann", `${ADA} ${BO} look`, { id: "1", to });
    await room.event("membership", { platformId: "U_BO", change: "left" });
    await room.says("ann", "and now?", { id: "2", thread: "1" });
    expect((await room.mail()).filter((line) => line.startsWith("bo"))).toHaveLength(1);
  });

  test("of people and strangers changes nothing", async () => {
    const room = await newRoom(world());
    expect(await room.event("membership", { platformId: "U_ANN", change: "joined" })).toEqual({ status: "ignored" });
  });
});

describe("people who are not served", () => {
  const guest = (room: Awaited<ReturnType<typeof newRoom>>) => ({ more: { from: room.person("gus", "guest") } });
  test("are told so once a day, and their words are not kept", async () => {
    const room = await newRoom(world());
    const asks = [`${ADA} one`, `${ADA} two`, `${ADA} three`];
    for (const text of asks)
      expect(await room.says("gus", text, guest(room))).toMatchObject({
        status: "refused",
        reason: expect.stringContaining("Guest accounts"),
      });
    expect(await room.notices()).toEqual([expect.stringContaining("Guest accounts are not served here.")]);
    expect([await room.mail(), await room.kept()]).toEqual([[], []]);
  });

  test("are told again the next day", async () => {
    const room = await newRoom(world());
    const tomorrow = new Date(Date.now() + 86_400_000);
    await room.says("gus", `${ADA} one`, guest(room));
    await room.says("gus", `${ADA} two`, { more: { ...guest(room).more, at: tomorrow } });
    expect(await room.notices()).toHaveLength(2);
  });

  test("are left alone when they talk to others", async () => {
    const room = await newRoom(world());
    await room.says("ann", `${ADA} hello`, { id: "1" });
    expect(await room.says("gus", "lunch?", { thread: "1", ...guest(room) })).toEqual({ status: "ignored" });
    expect(await room.notices()).toEqual([]);
  });

  test("are told in direct messages", async () => {
    const room = await newRoom(world(), { access: { directMessages: "allowlist" } });
    expect(await room.writes("ann", "hi")).toMatchObject({ status: "refused" });
    expect(await room.notices()).toHaveLength(1);
  });

  test("get silence when they are foreign bots", async () => {
    const room = await newRoom(world());
    const from = room.person("robot", "bot");
    expect(await room.says("robot", `${ADA} hello`, { more: { from } })).toEqual({ status: "ignored" });
    expect([await room.notices(), await room.mail()]).toEqual([[], []]);
  });

  test("cannot run commands, click or react", async () => {
    const room = await newRoom(world());
    await room.says("ann", `${ADA} hello`, { id: "1" });
    const from = room.person("gus", "guest");
    expect(await room.says("gus", "!help", { thread: "1", more: { from } })).toEqual({ status: "ignored" });
    const reaction = { from, platformId: "1", emoji: "x", change: "added" as const };
    expect(await room.event("reaction", reaction, room.thread("1"))).toEqual({ status: "ignored" });
  });
});

test("a full mailbox refuses visibly, once an hour, and keeps what was taken", async () => {
  const room = await newRoom(world(), { limits: { mailPerSession: 2 } });
  const at = new Date("2026-01-01T10:10:00Z");
  for (let i = 0; i < 5; i += 1) await room.writes("ann", `message ${i}`, { more: { at } });
  expect(await room.mail()).toEqual(["ada message due", "ada message due"]);
  expect(await room.notices()).toEqual([expect.stringContaining("Ada has too many messages waiting here")]);
  await room.writes("ann", "an hour later", { more: { at: new Date("2026-01-01T11:10:00Z") } });
  expect(await room.notices()).toHaveLength(2);
});
