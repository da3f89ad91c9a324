/**
 * Asks a PostgreSQL server whether it can be used, before anything depends on it. Changes nothing there. Used by the doctor; the real opening,
 * with migrations, is left to the store.
 */
import { Client } from "pg";
import { serverPoolOptions } from "./pool.ts";

/** What a server said: its version, or in words why it cannot be used. */
export type ProbeResult =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly text: string };

/** Connects, asks one question and leaves, within 10 s. Never throws; the text names no password. */
export async function probeDatabase(databaseUrl: string): Promise<ProbeResult> {
  try {
    const client = new Client({
      ...serverPoolOptions(databaseUrl),
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    });
    // A connection lost after the answer is nobody's concern here, but without a listener it would end the process.
    client.on("error", () => undefined);
    await client.connect();
    const found = await client
      .query<{ version: string }>("select current_setting('server_version') as version")
      .finally(() => client.end());
    return { ok: true, version: found.rows[0]?.version ?? "unknown" };
  } catch (error) {
    const text =
      error instanceof AggregateError
        ? error.errors.map(String).join("; ")
        : error instanceof Error
          ? error.message
          : String(error);
    return { ok: false, text };
  }
}
