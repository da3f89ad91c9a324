/** Migrations as an operator meets them: fresh, repeated, changed, broken and newer databases. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "../../../src/engine/store/embedded.ts";
import { applyMigrations } from "../../../src/engine/store/migrate.ts";
import { silentLog } from "./silent-log.ts";

const home = mkdtempSync(join(tmpdir(), "parley-migrate-"));
let db: EmbeddedDatabase;
let pool: pg.Pool;
let folder: string;

function write(name: string, sql: string): void {
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, "migration.sql"), sql);
}

async function tables(): Promise<string[]> {
  const { rows } = await pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
  return rows.map((row: { tablename: string }) => row.tablename);
}

beforeAll(async () => {
  db = await openEmbeddedDatabase({ dir: join(home, "db"), log: silentLog, onFatal: () => undefined, upkeepMs: 0 });
  pool = new pg.Pool(db.poolOptions);
});

beforeEach(async () => {
  await pool.query("DROP SCHEMA public CASCADE");
  await pool.query("CREATE SCHEMA public");
  folder = mkdtempSync(join(home, "migrations-"));
  write("20260101000000_first", "CREATE TABLE first (id int PRIMARY KEY);");
  write("20260102000000_second", "CREATE TABLE second (id int);\nINSERT INTO first VALUES (1);");
});

afterAll(async () => {
  await pool.end();
  await db.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
});

test("a fresh database gets every migration in order, a second start finds nothing to do", async () => {
  expect(await applyMigrations(pool, folder)).toEqual({ applied: ["20260101000000_first", "20260102000000_second"] });
  expect(await applyMigrations(pool, folder)).toEqual({ applied: [] });
  expect(await tables()).toEqual(["_prisma_migrations", "first", "second"]);
});

test("this version's own migrations run on an empty database", async () => {
  const result = await applyMigrations(pool);
  expect(result.applied.length).toBeGreaterThan(0);
  expect(await tables()).toContain("Bot");
});

test("the record is the one Prisma itself writes", async () => {
  await applyMigrations(pool, folder);
  const { rows } = await pool.query("SELECT * FROM _prisma_migrations ORDER BY migration_name LIMIT 1");
  expect(rows[0]).toMatchObject({
    migration_name: "20260101000000_first",
    checksum: "3079049f367d58b2addc88019a0ddddab4f0cfeeaab9d25b675653bf6be912d9",
    rolled_back_at: null,
    logs: null,
    applied_steps_count: 1,
  });
  expect(rows[0].finished_at).toBeInstanceOf(Date);
});

test("a migration that fails leaves no trace, and earlier ones stay", async () => {
  write("20260103000000_broken", "CREATE TABLE third (id int);\nINSERT INTO first VALUES (1);");
  await expect(applyMigrations(pool, folder)).rejects.toThrow(
    /20260103000000_broken failed and was rolled back: duplicate key/,
  );
  expect(await tables()).toEqual(["_prisma_migrations", "first", "second"]);
});

test("after the failed migration was corrected the next start goes on", async () => {
  write("20260103000000_broken", "CREATE TABLE third (id int);\nSELECT 1 / 0;");
  await expect(applyMigrations(pool, folder)).rejects.toThrow(/division by zero/);
  write("20260103000000_broken", "CREATE TABLE third (id int);");
  expect(await applyMigrations(pool, folder)).toEqual({ applied: ["20260103000000_broken"] });
});

test("a file that changed after it was applied is named", async () => {
  await applyMigrations(pool, folder);
  write("20260101000000_first", "CREATE TABLE first (id bigint PRIMARY KEY);");
  await expect(applyMigrations(pool, folder)).rejects.toThrow(/20260101000000_first was changed after/);
});

test("a database of a newer version is refused", async () => {
  write("20260103000000_newer", "CREATE TABLE third (id int);");
  await applyMigrations(pool, folder);
  rmSync(join(folder, "20260103000000_newer"), { recursive: true });
  await expect(applyMigrations(pool, folder)).rejects.toThrow(/written by a newer version.*20260103000000_newer/);
});

test("a migration that another tool left unfinished is named with the way to repair it", async () => {
  await applyMigrations(pool, folder);
  await pool.query("UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '20260102000000_second'");
  await expect(applyMigrations(pool, folder)).rejects.toThrow(/prisma migrate resolve --applied 20260102000000_second/);
});

test("processes that start at the same time apply each migration once", async () => {
  const results = await Promise.all([1, 2, 3].map(() => applyMigrations(pool, folder)));
  expect(results.flatMap((result) => result.applied).sort()).toEqual(["20260101000000_first", "20260102000000_second"]);
});

test("a folder without its SQL file is named", async () => {
  mkdirSync(join(folder, "20260103000000_empty"));
  await expect(applyMigrations(pool, folder)).rejects.toThrow(/20260103000000_empty has no migration.sql/);
});
