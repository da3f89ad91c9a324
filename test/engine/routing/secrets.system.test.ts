/** Secrets through the front door: sealed, used once, and found nowhere else in the whole database (SPEC C2, C5). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openOnEmbedded, type StoreWorld } from "../store/store-world.ts";
import { cipher, newRoom } from "./rooms.ts";
import type { Room } from "./routing-world.ts";

let opened: StoreWorld | undefined;
const world = () => opened ?? expect.fail("not open");
beforeAll(async () => {
  opened = await openOnEmbedded();
});
afterAll(() => opened?.close());

const CANARY = "canary-9f3b-Zürich-✓-0123456789";
const wanted = { label: "API key", connector: "mail", field: "apiKey" };

async function asked(settings: Parameters<typeof newRoom>[1] = {}) {
  const room = await newRoom(world(), settings);
  await room.writes("ann", "hello");
  return { room, ...(await room.ask({ secret: wanted })) };
}
const stored = (room: Room) =>
  room.world.store.readSecret({ botId: room.bots.ada.botId, connector: "mail", field: "apiKey" });

/** Every place of every table that holds the text, plain or in a common spelling. */
async function findEverywhere(text: string): Promise<string[]> {
  const { pool } = world();
  const tables = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const spellings = [
    text,
    Buffer.from(text).toString("base64"),
    Buffer.from(text).toString("hex"),
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
  ];
  const found: string[] = [];
  for (const { name } of tables.rows) {
    const rows = await pool.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM "${name}" t`);
    if (rows.rows.some(({ row }) => spellings.some((spelling) => row.includes(spelling)))) found.push(name);
  }
  return found;
}

describe("a secret", () => {
  test("goes sealed into the vault, opens there, and stands nowhere else", async () => {
    const { room, cardId, ref } = await asked();
    expect(await room.gives("ann", cardId, CANARY, ref)).toEqual({ status: "accepted" });
    expect(await findEverywhere(CANARY)).toEqual([]);
    expect(await findEverywhere("API key")).not.toEqual([]);
    const sealed = (await stored(room)) ?? expect.fail("not stored");
    const open = cipher.unseal(sealed, { botId: room.bots.ada.botId, connector: "mail", field: "apiKey" });
    expect(open.ok && open.value.reveal()).toBe(CANARY);
    expect(open.ok && String(open.value)).toBe("[secret]");
  });

  test("reaches the bot as label and destination only", async () => {
    const { room, cardId, ref } = await asked();
    await room.gives("ann", cardId, CANARY, ref);
    const [mail] = await room.rows<{ body: object }>(
      `SELECT "body" FROM "Mail" WHERE "body"->>'type' = 'secret' AND "route" LIKE $1`,
    );
    expect(mail?.body).toEqual({ type: "secret", role: "member", cardId, ...wanted, outcome: "stored" });
    expect((await room.kept()).at(-1)).toBe('Gave "API key" privately; it is in the vault.');
  });

  test("that two windows give at the same instant is taken once", async () => {
    const { room, cardId, ref } = await asked();
    const all = await Promise.all([CANARY, `${CANARY}2`].map((value) => room.gives("ann", cardId, value, ref)));
    expect(all.map((one) => one.status).sort()).toEqual(["accepted", "refused"]);
    expect(
      await room.rows(`SELECT 1 FROM "VaultSecret" WHERE "cardId" = '${cardId}' AND "personId" LIKE $1`),
    ).toHaveLength(1);
  });

  test.each([
    ["short", "1234567", /shorter than 8/],
    ["blank", " ".repeat(20), /shorter than 8/],
    ["endless", "x".repeat(16_385), /longer than/],
    ["with a character nobody can type", "1234\u00005678", /cannot be typed/],
    ["empty", "", /shorter than 8/],
  ])("that is %s is refused with advice, and the card stays open", async (_name, value, advice) => {
    const { room, cardId, ref } = await asked();
    expect(await room.gives("ann", cardId, value, ref)).toMatchObject({
      status: "refused",
      reason: expect.stringMatching(advice),
    });
    expect(await stored(room)).toBeNull();
    expect(await room.gives("ann", cardId, CANARY, ref)).toEqual({ status: "accepted" });
  });

  test("of anybody but the person asked is refused", async () => {
    const { room, cardId, ref } = await asked();
    expect(await room.gives("bob", cardId, CANARY, ref)).toMatchObject({ status: "refused" });
    expect(await stored(room)).toBeNull();
  });

  test("for a question that is none is refused", async () => {
    const room = await newRoom(world());
    await room.writes("ann", "hello");
    const { cardId, ref } = await room.ask({ retry: true });
    expect(await room.gives("ann", cardId, CANARY, ref)).toMatchObject({ status: "refused" });
  });

  test("replaces the one before; clicks and typed words never answer the request", async () => {
    const { room, cardId, ref } = await asked();
    expect(await room.clicks("ann", cardId, ["x"], ref)).toMatchObject({
      status: "refused",
      reason: expect.stringContaining("private form"),
    });
    await room.gives("ann", cardId, "the-first-secret", ref);
    await room.writes("ann", "again");
    const second = await room.ask({ secret: wanted });
    await room.gives("ann", second.cardId, "the-second-secret", second.ref);
    const sealed = (await stored(room)) ?? expect.fail("not stored");
    const open = cipher.unseal(sealed, { botId: room.bots.ada.botId, connector: "mail", field: "apiKey" });
    expect(open.ok && open.value.reveal()).toBe("the-second-secret");
  });

  test("may be declined, once", async () => {
    const { room, cardId, ref } = await asked();
    const from = room.person("ann");
    expect(await room.event("dismiss", { from, cardId }, ref)).toEqual({ status: "accepted" });
    expect(await room.gives("ann", cardId, CANARY, ref)).toMatchObject({
      status: "refused",
      reason: "This card was closed by ann.",
    });
    expect((await room.kept()).at(-1)).toBe('Declined to give "API key".');
  });
});

describe("the one-time link", () => {
  const ask = (room: Room, name: string, cardId: string, ref: Awaited<ReturnType<typeof asked>>["ref"]) =>
    room.event("secret-link", { from: room.person(name), cardId }, ref);
  const tokenOf = (link: string | undefined) => link?.replace("https://bots.example/s/", "") ?? "";

  test("is for the person asked, is stored only as a hash, and works once", async () => {
    const { room, cardId, ref } = await asked();
    expect(await ask(room, "bob", cardId, ref)).toMatchObject({ status: "refused" });
    const { status, link } = await ask(room, "ann", cardId, ref);
    expect([status, link]).toEqual(["accepted", expect.stringMatching(/^https:\/\/bots\.example\/s\/[\w-]{43}$/)]);
    expect(await findEverywhere(tokenOf(link))).toEqual([]);
    expect(await room.gives("ann", cardId, CANARY, ref, { token: tokenOf(link) })).toEqual({ status: "accepted" });
    expect(await room.gives("ann", cardId, CANARY, ref, { token: tokenOf(link) })).toMatchObject({
      status: "refused",
      reason: expect.stringContaining("already answered"),
    });
  });

  test.each([
    ["invented", "A".repeat(43)],
    ["malformed", "nonsense"],
    ["empty", ""],
  ])("with a token that is %s stores nothing and leaves the card open", async (_name, token) => {
    const { room, cardId, ref } = await asked();
    expect(await room.gives("ann", cardId, CANARY, ref, { token })).toMatchObject({
      status: "refused",
      reason: expect.stringContaining("link was used already or has expired"),
    });
    expect(await stored(room)).toBeNull();
    expect((await room.world.store.readCard(cardId))?.state).toBe("open");
  });

  test("of another card opens nothing here", async () => {
    const { room, cardId, ref } = await asked();
    const { link } = await ask(room, "ann", cardId, ref);
    await room.writes("ann", "again");
    const other = await room.ask({ secret: { ...wanted, field: "other" } });
    expect(await room.gives("ann", other.cardId, CANARY, other.ref, { token: tokenOf(link) })).toMatchObject({
      status: "refused",
    });
  });

  test("is not offered where nobody could open it", async () => {
    const { room, cardId, ref } = await asked({ publicUrl: "", localLinks: false });
    expect(await ask(room, "ann", cardId, ref)).toMatchObject({
      status: "refused",
      reason: expect.stringContaining("web.publicUrl"),
    });
  });

  test("is not given for a card that was answered", async () => {
    const { room, cardId, ref } = await asked();
    await room.gives("ann", cardId, CANARY, ref);
    expect(await ask(room, "ann", cardId, ref)).toMatchObject({ status: "refused" });
  });
});
