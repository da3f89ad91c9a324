/**
 * Compares the migrations folder with prisma/schema.prisma and yields the SQL that is missing between them.
 * Works without a server and without Prisma's downloaded engine: the migrations are run on an in-memory PostgreSQL (PGlite),
 * which Prisma's schema engine (its WebAssembly build) then reads and compares with the schema.
 * Only this build of the engine is asked for a diff; expression indexes, CHECKs and triggers are invisible to it, by design.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import type { ColumnType, SqlDriverAdapter, SqlQuery, SqlResultSet } from "@prisma/driver-adapter-utils";
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from "@prisma/driver-adapter-utils";
import type { SchemaEngine } from "@prisma/schema-engine-wasm";
import * as engineModule from "@prisma/schema-engine-wasm/schema_engine_bg";

const root = fileURLToPath(new URL("..", import.meta.url));
export const schemaFile = join(root, "prisma", "schema.prisma");
export const migrationsFolder = join(root, "prisma", "migrations");

/** PostgreSQL type numbers that the engine's own catalogue queries return; everything else is read as text. */
const columnTypes = new Map<number, ColumnType>([
  [16, ColumnTypeEnum.Boolean],
  [18, ColumnTypeEnum.Character],
  [20, ColumnTypeEnum.Int64],
  [21, ColumnTypeEnum.Int32],
  [23, ColumnTypeEnum.Int32],
  [26, ColumnTypeEnum.Int64],
  [1002, ColumnTypeEnum.CharacterArray],
  [1003, ColumnTypeEnum.TextArray],
  [1005, ColumnTypeEnum.Int32Array],
  [1007, ColumnTypeEnum.Int32Array],
  [1009, ColumnTypeEnum.TextArray],
  [1016, ColumnTypeEnum.Int64Array],
]);

async function queryRaw(db: PGlite, query: SqlQuery): Promise<SqlResultSet> {
  const result = await db.query<unknown[]>(query.sql, query.args, { rowMode: "array", parsers: { 20: String } });
  return {
    columnNames: result.fields.map((field) => field.name),
    columnTypes: result.fields.map((field) => columnTypes.get(field.dataTypeID) ?? ColumnTypeEnum.Text),
    rows: result.rows,
  };
}

function adapterFor(db: PGlite): SqlDriverAdapter {
  return {
    provider: "postgres",
    adapterName: "parley-schema-diff",
    queryRaw: (query) => queryRaw(db, query),
    executeRaw: async (query) => (await db.query(query.sql, query.args)).affectedRows ?? 0,
    executeScript: async (script) => {
      await db.exec(script);
    },
    startTransaction: () => Promise.reject(new Error("A diff starts no transaction.")),
    getConnectionInfo: () => ({ schemaName: "public", supportsRelationJoins: true }),
    dispose: () => Promise.resolve(),
  };
}

/** Folder names in prisma/migrations in the order in which they are applied. */
function migrationNames(): string[] {
  return readdirSync(migrationsFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

async function databaseAfterMigrations(names: string[]): Promise<PGlite> {
  const db = await PGlite.create();
  for (const name of names) {
    try {
      await db.exec(readFileSync(join(migrationsFolder, name, "migration.sql"), "utf8"));
    } catch (error) {
      await db.close();
      throw new Error(`Migration ${name} does not run: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return db;
}

/** What the engine's glue code has besides its declared exports. */
interface EngineGlue {
  __wbg_set_wasm(exports: object): void;
  SchemaEngine: typeof SchemaEngine;
}

/** The one call of WebAssembly that is needed; the types of Node 20 do not name it. */
interface WasmHost {
  WebAssembly: {
    instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
  };
}

/** Node cannot import .wasm files by itself, so the engine is put together here. */
async function loadEngine(): Promise<typeof SchemaEngine> {
  const glue = engineModule as unknown as EngineGlue;
  const host = globalThis as unknown as WasmHost;
  const glueFile = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const bytes = readFileSync(glueFile.replace(/\.js$/, ".wasm"));
  const { instance } = await host.WebAssembly.instantiate(bytes, { "./schema_engine_bg.js": glue });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return glue.SchemaEngine;
}

/** The SQL that turns the result of all migrations into the schema; undefined when they already agree. */
export async function missingSql(): Promise<string | undefined> {
  const db = await databaseAfterMigrations(migrationNames());
  try {
    const connect = () => Promise.resolve(adapterFor(db));
    const factory = bindMigrationAwareSqlAdapterFactory({
      provider: "postgres",
      adapterName: "parley-schema-diff",
      connect,
      connectToShadowDb: connect,
    });
    const files = [{ path: schemaFile, content: readFileSync(schemaFile, "utf8") }];
    const ignoreLog = () => undefined;
    const engine = await (await loadEngine()).new(
      { datamodels: [[schemaFile, files[0]?.content ?? ""]] },
      ignoreLog,
      factory,
    );
    const result = await engine.diff({
      from: { tag: "schemaDatasource", files, configDir: root },
      to: { tag: "schemaDatamodel", files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return result.exitCode === 2 ? (result.stdout ?? undefined) : undefined;
  } finally {
    await db.close();
  }
}
