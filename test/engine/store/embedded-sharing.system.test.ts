/** Several clients on the one session of the embedded database: durability, isolation and the care of its tables. */
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "../../../src/engine/store/embedded.ts";
import { runUpkeep } from "../../../src/engine/store/embedded-upkeep.ts";
import { newFolder, query, removeFolders } from "./embedded-support.ts";
import { silentLog } from "./silent-log.ts";

let shared: EmbeddedDatabase;
beforeAll(async () => {
  shared = await openEmbeddedDatabase({
    dir: newFolder(),
    log: silentLog,
    onFatal: () => undefined,
    upkeepMs: 0,
    idleTransactionMs: 100,
  });
  await query(shared, "CREATE TABLE item (id int PRIMARY KEY, v text)");
});
afterAll(async () => {
  await shared.close();
  removeFolders();
});

test("every commit is synced to disk exactly once before it is acknowledged", async () => {
  const client = new pg.Client(shared.poolOptions);
  await client.connect();
  const before = (await shared.stats()).syncs;
  for (let id = 1; id <= 60; id += 1) await client.query("INSERT INTO item VALUES ($1, 'synced')", [id]);
  const after = (await shared.stats()).syncs;
  await client.end();
  expect(after - before).toBe(60);
});

test("transactions on four connections at once keep apart", async () => {
  const pool = new pg.Pool({ ...shared.poolOptions, max: 4 });
  const transact = async (id: number) => {
    const client = await pool.connect();
    await client.query("BEGIN");
    await client.query("INSERT INTO item VALUES ($1, 'first')", [id]);
    await client.query("UPDATE item SET v = 'second' WHERE id = $1", [id]);
    await client.query(id % 2 === 0 ? "COMMIT" : "ROLLBACK");
    client.release();
  };
  await Promise.all(Array.from({ length: 80 }, (_, index) => transact(1_000 + index)));
  const rows = await pool.query("SELECT count(*)::int AS n FROM item WHERE id >= 1000 AND id % 2 = 0 AND v = 'second'");
  const odd = await pool.query("SELECT count(*)::int AS n FROM item WHERE id >= 1000 AND id % 2 = 1");
  await pool.end();
  expect([rows.rows[0].n, odd.rows[0].n]).toEqual([40, 0]);
});

test("statements of several connections are not mixed up when their values arrive in pieces", async () => {
  const pool = new pg.Pool({ ...shared.poolOptions, max: 4 });
  const large = "x".repeat(3_000_000);
  const answers = await Promise.all(
    Array.from({ length: 24 }, async (_, n) => {
      if (n % 2 === 0) return (await pool.query("SELECT $1::int AS n, length($2) AS size", [n, large])).rows[0];
      return (await pool.query("SELECT length($1) AS size, $2::int AS n", [large, n])).rows[0];
    }),
  );
  await pool.end();
  expect(answers).toEqual(Array.from({ length: 24 }, (_, n) => expect.objectContaining({ n, size: 3_000_000 })));
});

test("an error in one statement leaves its connection and the others usable", async () => {
  const client = new pg.Client(shared.poolOptions);
  await client.connect();
  await client.query("INSERT INTO item VALUES (500, 'once')");
  await expect(client.query("INSERT INTO item VALUES ($1, 'twice')", [500])).rejects.toMatchObject({ code: "23505" });
  expect((await client.query("SELECT v FROM item WHERE id = 500")).rows).toEqual([{ v: "once" }]);
  await client.end();
});

test("the transaction of a client that vanished is rolled back and holds nobody up", async () => {
  const lost = new pg.Client(shared.poolOptions);
  lost.on("error", () => undefined);
  await lost.connect();
  await lost.query("BEGIN");
  await lost.query("INSERT INTO item VALUES (600, 'lost')");
  const count = query(shared, "SELECT count(*)::int AS n FROM item WHERE id = 600");
  await lost.end();
  expect(await count).toEqual([{ n: 0 }]);
});

test("a transaction that is kept open and silent is taken away from its client when others wait", async () => {
  const silent = new pg.Client(shared.poolOptions);
  const ended = new Promise((resolve) => silent.on("error", resolve));
  await silent.connect();
  await silent.query("BEGIN");
  await silent.query("INSERT INTO item VALUES (700, 'forgotten')");
  expect(await query(shared, "SELECT count(*)::int AS n FROM item WHERE id = 700")).toEqual([{ n: 0 }]);
  expect(String(await ended)).toMatch(/idle-in-transaction|terminated unexpectedly/);
  await silent.end().catch(() => undefined);
});

test("upkeep removes dead rows and writes a checkpoint once the log has grown", async () => {
  await query(shared, "CREATE TABLE busy (id int PRIMARY KEY, v text)");
  await query(shared, "INSERT INTO busy SELECT n, repeat('y', 1000) FROM generate_series(1, 10000) n");
  await query(shared, "UPDATE busy SET v = v || '!'");
  const done = await runUpkeep(shared.poolOptions);
  expect(done).toMatchObject({ checkpoint: true, vacuumed: expect.arrayContaining(["public.busy"]) });
  expect(await query(shared, "SELECT n_dead_tup::int AS n FROM pg_stat_user_tables WHERE relname = 'busy'")).toEqual([
    { n: 0 },
  ]);
});
