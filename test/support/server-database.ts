/** A database of its own on the PostgreSQL server of this machine, in a time zone far from UTC, for tests that need several processes on one database. */
import { randomUUID } from "node:crypto";
import pg from "pg";

const SERVER = "postgresql://postgres@localhost:5432";

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${SERVER}/postgres`, connectionTimeoutMillis: 2000 });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** True when a server answers. */
export function isServerThere(): Promise<boolean> {
  return onServer("SELECT 1").then(
    () => true,
    () => false, // No server is an ordinary case; the tests then say that they were skipped.
  );
}

/** Makes it; `drop` removes it again, whoever is still connected. */
export async function createServerDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const name = `parley_world_${randomUUID().replaceAll("-", "")}`;
  await onServer(`CREATE DATABASE ${name}`);
  await onServer(`ALTER DATABASE ${name} SET timezone TO 'Asia/Kathmandu'`);
  return { url: `${SERVER}/${name}`, drop: () => onServer(`DROP DATABASE ${name} WITH (FORCE)`) };
}
