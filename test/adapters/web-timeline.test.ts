/** The playground's timeline on its own: numbers without gaps, each piece once, whoever writes and however often. */

import { expect, test } from "vitest";
import { type StoredRecord, Timeline } from "../../src/adapters/web/timeline.ts";
import type { KeyValueStore } from "../../src/engine/index.ts";
import { createMemoryKv } from "../support/memory-kv.ts";

const record = (once: string): StoredRecord => ({
  type: "post",
  once,
  at: "2026-01-01T00:00:00.000Z",
  author: { kind: "bot", id: "ada", name: "Ada" },
  content: { type: "text", content: once, images: [] },
});

const open = (kv: KeyValueStore) => new Timeline(kv, () => undefined);

test("a record delivered twice stands in the timeline once", async () => {
  const timeline = open(createMemoryKv());
  expect(await timeline.append("c", record("a"))).toEqual({ seq: 1, fresh: true });
  expect(await timeline.append("c", record("a"))).toEqual({ seq: 1, fresh: false });
  expect(await timeline.after("c", 0)).toHaveLength(1);
});

test("many writers in several processes leave no gap and no double", async () => {
  const kv = slow(createMemoryKv());
  const processes = [open(kv), open(kv), open(kv)];
  const names = Array.from({ length: 20 }, (_, index) => `piece-${index}`);
  const writes = processes.flatMap((timeline) => names.map((name) => timeline.append("c", record(name))));
  await Promise.all(writes);
  const items = await open(kv).after("c", 0);
  expect(items.map((item) => item.seq)).toEqual(names.map((_, index) => index + 1));
  expect(new Set(items.map((item) => item.record.once))).toEqual(new Set(names));
});

test("a record is found only when it was written", async () => {
  const timeline = open(createMemoryKv());
  expect(await timeline.find("c", "a")).toBeNull();
  await timeline.append("c", record("b"));
  await timeline.append("c", record("a"));
  expect(await timeline.find("c", "a")).toBe(2);
  expect(await timeline.find("other", "a")).toBeNull();
});

test("a writer that died between its mark and its record is repeated exactly once", async () => {
  const kv = createMemoryKv();
  const dying: KeyValueStore = {
    ...kv,
    insert: async (key, value) => {
      if (key.startsWith("log/")) throw new Error("the process is gone");
      return kv.insert(key, value);
    },
  };
  await expect(open(dying).append("c", record("a"))).rejects.toThrow("gone");
  expect(await open(kv).find("c", "a")).toBeNull();
  await open(kv).append("c", record("b"));
  expect(await open(kv).append("c", record("a"))).toEqual({ seq: 2, fresh: true });
});

test("what happened to old posts is read together with them", async () => {
  const timeline = open(createMemoryKv());
  for (let index = 1; index <= 30; index += 1) await timeline.append("c", record(`p${index}`));
  const outcome = { cardId: "k", state: "answered" as const, byName: "Sam" };
  await timeline.amend("c", { type: "settle", once: "settle/3", target: 3, outcome });
  await timeline.amend("c", { type: "settle", once: "settle/25", target: 25, outcome });
  const early = await timeline.overlays("c", 1, 10);
  expect([...early.keys()]).toEqual([3]);
  expect(early.get(3)?.outcome?.byName).toBe("Sam");
});

/** Each operation waits a turn or two, so that writers really interleave. */
function slow(kv: KeyValueStore): KeyValueStore {
  let ticks = 0;
  const pause = async () => {
    ticks += 1;
    for (let left = ticks % 3; left > 0; left -= 1) await Promise.resolve();
  };
  return {
    ...kv,
    get: async (key) => {
      await pause();
      return kv.get(key);
    },
    insert: async (key, value) => {
      await pause();
      return kv.insert(key, value);
    },
    list: async (options) => {
      await pause();
      return kv.list(options);
    },
  };
}
