/**
 * The store over PostgreSQL, a server or the embedded one: Prisma Client and plain statements through one `pg` pool.
 * Invariant: works the same for one process on the embedded database and for many on a server. The schema must be up to date
 * (migrate.ts). Each group of operations has its file beside this one.
 */
import { PrismaPg } from "@prisma/adapter-pg";
import type { PoolConfig } from "pg";
import { Pool } from "pg";
import type { Log } from "../log.ts";
import { createCardOperations } from "./cards.ts";
import { createClaimOperations } from "./claims.ts";
import { createConfigurationOperations } from "./configuration.ts";
import { createDiscussionOperations } from "./discussions.ts";
import { createEntryOperations } from "./entries.ts";
import { createFileOperations } from "./files.ts";
import { PrismaClient } from "./generated/client.ts";
import { createDatabase } from "./hot-path.ts";
import { createIntakeOperations } from "./intake.ts";
import { createKeyValues } from "./key-values.ts";
import { createLeaseOperations } from "./leases.ts";
import { createOutboxOperations } from "./outbox.ts";
import { createPeerOperations } from "./peers.ts";
import { pruneRows } from "./prune.ts";
import { createSessionOperations } from "./sessions.ts";
import type { Store } from "./store.ts";
import { createTurnOperations } from "./turns.ts";
import { createVaultOperations } from "./vault-rows.ts";
import { createWorkflowOperations } from "./workflows.ts";

/** Where the data is: a pool, or options for one. Either way the store ends it when it closes. */
export interface PrismaStoreOptions {
  readonly pool: Pool | PoolConfig;
  readonly log: Log;
}

/** Opens the store and makes sure that the database answers. */
export async function createPrismaStore({ pool: given, log }: PrismaStoreOptions): Promise<Store> {
  const pool = given instanceof Pool ? given : openPool(given, log);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const database = createDatabase(pool, prisma);
  const ping = async () => {
    await database.query("SELECT 1");
  };
  await ping();
  return {
    ...createConfigurationOperations(database),
    ...createIntakeOperations(database),
    ...createDiscussionOperations(database),
    ...createEntryOperations(database),
    ...createClaimOperations(database),
    ...createTurnOperations(database),
    ...createSessionOperations(database),
    ...createPeerOperations(database),
    ...createWorkflowOperations(database),
    ...createLeaseOperations(database),
    ...createOutboxOperations(database),
    ...createCardOperations(database),
    ...createVaultOperations(database),
    ...createFileOperations(database),
    keyValues: (scope) => createKeyValues(database, scope),
    prune: () => pruneRows(database),
    ping,
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

function openPool(options: PoolConfig, log: Log): Pool {
  const pool = new Pool(options);
  // Without a listener the loss of an idle connection would end the process; the pool itself replaces it.
  pool.on("error", (error) => log.warn({ error: error.message }, "an idle database connection broke"));
  return pool;
}
