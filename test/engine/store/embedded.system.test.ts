/** The embedded database as its users see it: opening, claiming its directory, crashes and closing. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { claimDirectory, DatabaseInUseError } from "../../../src/engine/store/embedded-lock.ts";
import {
  endAfterTest,
  endEverything,
  newFolder,
  openIn,
  query,
  removeFolders,
  startChild,
} from "./embedded-support.ts";

afterEach(endEverything);
afterAll(removeFolders);

describe("opening", () => {
  test("what one run stored, the next one finds", async () => {
    const dir = join(newFolder(), "database");
    const first = await openIn(dir);
    await query(first, "CREATE TABLE kept (v text)");
    await query(first, "INSERT INTO kept VALUES ('hello')");
    await first.close();
    const second = await openIn(dir);
    expect(second.origin).toBe("found");
    expect(await query(second, "SELECT v FROM kept")).toEqual([{ v: "hello" }]);
  });

  test("the directory is closed to other users of the machine", async () => {
    const dir = newFolder();
    await openIn(dir);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test("a second process is refused with the holder's pid and a way out", async () => {
    const dir = newFolder();
    await openIn(dir);
    const refused = await openIn(dir).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DatabaseInUseError);
    expect(refused).toMatchObject({ pid: process.pid, name: "ConfigError" });
    expect(String(refused)).toContain("DATABASE_URL");
  });

  test("a path too long for a socket works and is still held by one process only", async () => {
    const dir = join(newFolder(), "a".repeat(60), "b".repeat(60));
    const db = await openIn(dir);
    expect(await query(db, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await expect(openIn(dir)).rejects.toThrow(DatabaseInUseError);
  });

  test("half of an unpacked database left by a crash is swept away", async () => {
    const dir = newFolder();
    mkdirSync(join(dir, "unpacking-1", "base"), { recursive: true });
    writeFileSync(join(dir, "unpacking-1", "PG_VERSION"), "18");
    const db = await openIn(dir);
    expect(db.origin).not.toBe("found");
    expect(existsSync(join(dir, "unpacking-1"))).toBe(false);
  });

  test("a cluster folder that holds no database is named instead of being overwritten", async () => {
    const dir = newFolder();
    mkdirSync(join(dir, "cluster"));
    writeFileSync(join(dir, "cluster", "precious"), "x");
    await expect(openIn(dir)).rejects.toThrow(/cluster is there but holds no database/);
    expect(readdirSync(join(dir, "cluster"))).toEqual(["precious"]);
  });

  test("without a template it makes its own cluster", { timeout: 60_000 }, async () => {
    const dir = newFolder();
    const db = await openIn(dir, { templateFile: join(dir, "no-such-file") });
    expect(db.origin).toBe("made");
    expect(await query(db, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});

describe("claiming a directory", () => {
  test("of many claims at the same instant over a leftover socket exactly one wins", async () => {
    const dir = newFolder();
    const child = startChild(dir);
    await vi.waitFor(() => expect(child.lines[0]).toBe("open"), { timeout: 30_000, interval: 50 });
    await child.kill();
    expect(readdirSync(dir).filter((name) => name.startsWith(".s.PGSQL"))).toHaveLength(2);
    const claims = await Promise.allSettled(Array.from({ length: 12 }, () => claimDirectory(dir)));
    const won = claims.flatMap((claim) => (claim.status === "fulfilled" ? [claim.value] : []));
    for (const claim of won) endAfterTest(claim.release);
    expect(won).toHaveLength(1);
    for (const claim of claims)
      if (claim.status === "rejected") expect(claim.reason).toBeInstanceOf(DatabaseInUseError);
  });

  test("a released directory has nothing of the claim left and can be claimed again", async () => {
    const dir = newFolder();
    await (await claimDirectory(dir)).release();
    expect(readdirSync(dir)).toEqual([]);
    await (await claimDirectory(dir)).release();
  });
});

describe("ending", () => {
  test("after kill -9 in the middle of commits every acknowledged row is there", { timeout: 90_000 }, async () => {
    const dir = newFolder();
    const acknowledged = new Set<number>();
    for (const rows of [40, 15, 90]) {
      const child = startChild(dir);
      await vi.waitFor(() => expect(child.lines.length).toBeGreaterThan(rows), { timeout: 30_000, interval: 5 });
      await child.kill();
      for (const line of child.lines.slice(1)) acknowledged.add(Number(line));
    }
    const db = await openIn(dir);
    const found = new Set((await query(db, "SELECT n FROM acknowledged")).map((row) => row.n));
    expect([...acknowledged].filter((n) => !found.has(n))).toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(100);
  });

  test("kill -9 during the first start leaves nothing that stops the next one", { timeout: 90_000 }, async () => {
    const dir = newFolder();
    for (const sign of [/^unpacking-/, /^cluster$/]) {
      const child = startChild(dir);
      await vi.waitFor(() => expect(readdirSync(dir).some((name) => sign.test(name))).toBe(true), {
        timeout: 30_000,
        interval: 1,
      });
      await child.kill();
    }
    const db = await openIn(dir);
    expect(await query(db, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("closing takes less than 3 s although a transaction is open, and frees the directory", async () => {
    const dir = newFolder();
    const db = await openIn(dir);
    const client = new pg.Client(db.poolOptions);
    client.on("error", () => undefined);
    await client.connect();
    await client.query("BEGIN");
    await db.close();
    await db.close();
    expect(readdirSync(dir)).toEqual(["cluster"]);
    await (await openIn(dir)).close();
  });

  test("a database that breaks while running is reported once", async () => {
    const dir = newFolder();
    const onFatal = vi.fn();
    const db = await openIn(dir, { onFatal });
    rmSync(join(dir, "cluster", "pg_wal"), { recursive: true });
    await query(db, "SELECT pg_switch_wal()").catch(() => undefined);
    await query(db, "CREATE TABLE lost (v text)").catch(() => undefined);
    await vi.waitFor(() => expect(onFatal).toHaveBeenCalledTimes(1), { timeout: 10_000, interval: 20 });
    expect(String(onFatal.mock.calls[0]?.[0])).toContain("embedded database stopped: ");
    expect(String(onFatal.mock.calls[0]?.[0])).toContain("PANIC");
  });

  test("a database that hangs is reported", async () => {
    const onFatal = vi.fn();
    const db = await openIn(newFolder(), { onFatal, watchMs: 50 });
    query(db, "SELECT count(*) FROM generate_series(1, 2000000000)").catch(() => undefined);
    await vi.waitFor(() => expect(onFatal).toHaveBeenCalledTimes(1), { timeout: 10_000, interval: 20 });
    expect(String(onFatal.mock.calls[0]?.[0])).toContain("not answered");
  });
});
