/**
 * Options of the `pg` connection pool for both places the data can be in: a PostgreSQL server named by a URL, or the embedded database.
 * Every wait has a limit: for a connection, for an answer, and for a transaction that somebody forgot.
 */
import type { PoolConfig } from "pg";
import { ConfigError } from "../errors.ts";

/** Longest wait for a free or new connection, and for the answer to one statement, in milliseconds. */
const limits = { connectionTimeoutMillis: 15_000, query_timeout: 60_000 };

/**
 * Options for a PostgreSQL server. `connections` is the pool's size per process (default 10).
 * Throws ConfigError when the URL is none of PostgreSQL's.
 */
export function serverPoolOptions(databaseUrl: string, connections = 10): PoolConfig {
  if (!/^postgres(ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl)) {
    throw new ConfigError("storage.databaseUrl must look like postgresql://user:password@host:5432/database.");
  }
  return {
    ...limits,
    connectionString: databaseUrl,
    max: connections,
    keepAlive: true,
    application_name: "parley",
    statement_timeout: limits.query_timeout - 1_000,
    idle_in_transaction_session_timeout: 30_000,
  };
}

/**
 * Options for the embedded database's socket. All its connections share one session, in turns: four let callers queue in the database
 * instead of in the pool, more gain nothing. No statement may be named and no session setting changed (see embedded-wire).
 */
export function embeddedPoolOptions(host: string, port: number): PoolConfig {
  return { ...limits, host, port, user: "postgres", database: "postgres", max: 4, idleTimeoutMillis: 0 };
}
