/** Typed commands and the stop control through the front door: exact, once, with a visible outcome, and with a role for others' work (SPEC T5). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
const FOR_OTHERS = "That work is for somebody else; they or an administrator can stop it.";

/** Ada works for Ann in a thread. */
async function busy(): Promise<{ room: Room; sessionId: string }> {
  const room = await newRoom(world());
  await room.says("ann", `${ADA} hello`, { id: "1" });
  await room.work();
  return { room, sessionId: room.rung.at(-1) ?? "" };
}
const isStopped = async (room: Room) => {
  const [turn] = await room.rows<{ stopped: boolean }>(
    `SELECT t."stopRequestedAt" IS NOT NULL AS stopped FROM "Turn" t JOIN "Session" s ON s."id" = t."sessionId" WHERE s."conversationKey" LIKE $1`,
  );
  return turn?.stopped;
};
const stops = (room: Room) => room.signals.filter((signal) => signal.startsWith("stop"));

describe("a typed stop", () => {
  test.each(["!stop", `${ADA} stop`, `${ADA} !stop`, "!STOP!", `${ADA}, stop.`])(
    "%j of the person served stops the turn and is no mail",
    async (text) => {
      const { room, sessionId } = await busy();
      expect(await room.says("ann", text, { thread: "1" })).toEqual({ status: "accepted" });
      expect(await isStopped(room)).toBe(true);
      expect(stops(room)).toEqual([`stop ${sessionId}`]);
      expect(await room.mail()).toEqual(["ada message taken"]);
      expect(await room.notices()).toEqual([]);
    },
  );

  test("drops the stopper's own waiting mail, not that of others", async () => {
    const { room } = await busy();
    await room.says("ann", "and this", { thread: "1" });
    await room.says("bob", "and mine", { thread: "1" });
    await room.says("ann", "!stop", { thread: "1" });
    expect(await room.mail()).toEqual(["ada message taken", "ada message cancelled", "ada message due"]);
  });

  test("of somebody else is refused where they can see it", async () => {
    const { room } = await busy();
    expect(await room.says("bob", "!stop", { thread: "1" })).toEqual({ status: "refused", reason: FOR_OTHERS });
    expect(await isStopped(room)).toBe(false);
    expect(await room.notices()).toEqual([FOR_OTHERS]);
    expect(await room.mail()).toEqual(["ada message taken"]);
  });

  test("of an administrator stops work done for others", async () => {
    const { room } = await busy();
    expect(await room.says("boss", "!stop", { thread: "1" })).toEqual({ status: "accepted" });
    expect(await isStopped(room)).toBe(true);
  });

  test("in both of its copies, at the same instant, stops once and says nothing false", async () => {
    for (let i = 0; i < 10; i += 1) {
      const { room } = await busy();
      const all = await Promise.all(
        [{}, { namesBot: true }].map((more) => room.says("ann", `${ADA} stop`, { id: "2", thread: "1", more })),
      );
      expect(all.map((one) => one.status).sort()).toEqual(["accepted", "duplicate"]);
      expect(await room.notices()).toEqual([]);
      expect(stops(room)).toHaveLength(1);
    }
  });

  test("where nothing runs says so once", async () => {
    const room = await newRoom(world());
    for (const id of ["1", "1", "1"]) await room.writes("ann", "!stop", { id });
    expect(await room.notices()).toEqual(["Nothing is running here."]);
    expect(await room.mail()).toEqual([]);
  });

  test("that only drops what waits says that", async () => {
    const room = await newRoom(world());
    await room.writes("ann", "hello");
    await room.writes("ann", "!stop");
    expect(await room.notices()).toEqual(["Stopped: what was waiting has been dropped."]);
    expect(await room.mail()).toEqual(["ada message cancelled"]);
  });

  test("for another bot leaves this one running", async () => {
    const { room } = await busy();
    await room.event("membership", { platformId: "U_BO", change: "joined" });
    await room.says("ann", "<@U_BO|Bo Diddley> stop", { thread: "1" });
    expect(await isStopped(room)).toBe(false);
    expect(await room.notices()).toEqual(["Nothing is running here."]);
  });

  test("in a thread nobody works in is nobody's business", async () => {
    const room = await newRoom(world());
    expect(await room.says("ann", "!stop", { thread: "1" })).toEqual({ status: "ignored" });
    expect(await room.notices()).toEqual([]);
  });
});

describe("everyday words", () => {
  test.each(["stop the car please", `${ADA} please stop worrying`, "Halt, stopp!", "arrête un peu", "stop"])(
    "%j stop nothing and are mail",
    async (text) => {
      const { room } = await busy();
      await room.says("ann", text, { thread: "1" });
      expect(await isStopped(room)).toBe(false);
      expect(await room.mail()).toEqual(["ada message taken", "ada message due"]);
    },
  );
});

describe("the stop control", () => {
  const press = (room: Room, name: string) =>
    room.event("stop", { from: room.person(name), dedupeKey: `stop-${room.workspaceId}-${name}` }, room.thread("1"));
  test("stops the turn, and a repeated event changes and says nothing", async () => {
    const { room, sessionId } = await busy();
    expect(await press(room, "ann")).toEqual({ status: "accepted" });
    expect(await press(room, "ann")).toEqual({ status: "duplicate" });
    expect(stops(room)).toEqual([`stop ${sessionId}`]);
    expect(await room.notices()).toEqual([]);
  });

  test("of somebody else is refused with the reason", async () => {
    const { room } = await busy();
    expect(await press(room, "bob")).toEqual({ status: "refused", reason: FOR_OTHERS });
    expect(await room.notices()).toEqual([]);
  });
});

describe("help and status", () => {
  test("while a bot is busy interrupt nothing and are answered once", async () => {
    const { room } = await busy();
    for (const id of ["2", "2"]) await room.says("ann", "!status", { id, thread: "1" });
    await room.says("bob", `${ADA} !help`, { thread: "1" });
    expect(await isStopped(room)).toBe(false);
    expect(await room.notices()).toEqual(["Ada is working here.", expect.stringContaining("Write to Ada here")]);
    expect(await room.mail()).toEqual(["ada message taken"]);
  });

  test("come from the bot that was named, whoever heard it first", async () => {
    const room = await newRoom(world());
    await room.event("membership", { platformId: "U_BO", change: "joined" });
    await room.says("ann", "<@U_BO|Bo Diddley> !help", { id: "1", to: "ada" });
    const [notice] = await room.rows<{ botId: string; text: string }>(
      `SELECT "botId", "text" FROM "Entry" WHERE "kind" = 'host-card' AND "conversationKey" LIKE $1`,
    );
    expect(notice?.botId).toBe(room.bots.bo.botId);
    expect(notice?.text).toContain("@Bo Diddley stop");
    const [piece] = await room.rows<{ installationId: string }>(
      `SELECT "installationId" FROM "OutboxPiece" WHERE "nativeChannel" LIKE $1`,
    );
    expect(piece?.installationId).toBe(room.bots.bo.id);
  });

  test("as the first words in a channel do not change how it answers later", async () => {
    const room = await newRoom(world());
    await room.says("ann", `${ADA} !help`, { id: "1" });
    await room.says("ann", `${ADA} hello`, { id: "2" });
    const keys = await room.rows<{ key: string }>(
      `SELECT "conversationKey" AS key FROM "Session" WHERE "conversationKey" LIKE $1`,
    );
    expect(keys).toEqual([{ key: `test:${room.workspaceId}:C1:2` }]);
  });

  test("without a bot in sight are left to other apps", async () => {
    const room = await newRoom(world());
    expect(await room.says("ann", "!help")).toEqual({ status: "ignored" });
    expect(await room.notices()).toEqual([]);
  });
});
