/** Edits and deletions of people's messages, by what became of them (SPEC T6). */
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
describe("edits and deletions", () => {
  test("replace or cancel what waits, and steer what is being worked on", async () => {
    const room = await newRoom(world());
    const from = room.person("ann");
    await room.writes("ann", "first", { id: "1" });
    expect(await room.event("edit", { from, platformId: "1", text: "better" }, room.direct)).toEqual({
      status: "accepted",
    });
    expect(await room.mail()).toEqual(["ada message cancelled", "ada message due"]);
    const turn = await room.work();
    await room.event("edit", { from, platformId: "1", text: "best" }, room.direct);
    expect((await room.mail()).at(-1)).toBe("ada steering due");
    expect(room.signals.at(-1)).toMatch(/^steer /);
    await room.event("delete", { platformId: "1" }, room.direct);
    expect((await room.mail()).slice(-2)).toEqual(["ada steering cancelled", "ada steering due"]);
    await room.finish(turn);
  });

  test("of what was answered already only mark it", async () => {
    const room = await newRoom(world());
    await room.writes("ann", "first", { id: "1" });
    await room.finish(await room.work());
    expect(await room.event("delete", { platformId: "1" }, room.direct)).toEqual({ status: "accepted" });
    expect(await room.mail()).toEqual(["ada message done"]);
  });

  test("of a message that opened a thread find it there", async () => {
    const room = await newRoom(world());
    await room.says("ann", `${ADA} hello`, { id: "1" });
    expect(await room.event("delete", { platformId: "1" }, room.channel)).toEqual({ status: "accepted" });
    expect(await room.mail()).toEqual(["ada message cancelled"]);
  });

  test("of what nobody took in are ignored", async () => {
    const room = await newRoom(world());
    expect(await room.event("delete", { platformId: "9" }, room.channel)).toEqual({ status: "ignored" });
  });
});
