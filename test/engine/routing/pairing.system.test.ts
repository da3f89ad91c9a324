/** Direct messages by pairing (SPEC I6): a code for the person, an administrator's word, and then an ordinary conversation. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openOnEmbedded, type StoreWorld } from "../store/store-world.ts";
import { newRoom } from "./rooms.ts";

let opened: StoreWorld | undefined;
const world = () => opened ?? expect.fail("not open");
beforeAll(async () => {
  opened = await openOnEmbedded();
});
afterAll(() => opened?.close());

type Room = Awaited<ReturnType<typeof newRoom>>;
const codeIn = (said: readonly string[]) =>
  /!pair (\d{6})/.exec(said.join("\n"))?.[1] ?? expect.fail("no code was given");

async function pairingRoom(): Promise<Room> {
  return newRoom(world(), { access: { directMessages: "pairing", admins: ["U_BOSS"] } });
}

test("an unknown person is given a code and is not served", async () => {
  const room = await pairingRoom();
  expect(await room.writes("ann", "hello")).toMatchObject({ status: "refused" });
  expect(await room.mail()).toEqual([]);
  expect(codeIn(await room.notices())).toMatch(/^\d{6}$/);
});

test("once an administrator has passed the code on, the person is served", async () => {
  const room = await pairingRoom();
  await room.writes("ann", "hello");
  const code = codeIn(await room.notices());
  expect(await room.writes("boss", `!pair ${code}`)).toEqual({ status: "accepted" });
  expect(await room.writes("ann", "and now?")).toEqual({ status: "accepted" });
  expect(await room.mail()).toEqual(["ada message due"]);
});

test("a person cannot admit anybody, and a code works once", async () => {
  const room = await pairingRoom();
  await room.writes("ann", "hello");
  const code = codeIn(await room.notices());
  await room.writes("ann", `!pair ${code}`);
  expect(await room.writes("ann", "am I in?")).toMatchObject({ status: "refused" });
  await room.writes("boss", `!pair ${code}`);
  await room.writes("boss", `!pair ${code}`);
  expect((await room.notices()).at(-1)).toContain("unknown or too old");
});
