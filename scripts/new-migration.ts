/**
 * `npm run db:migration NAME`: writes prisma/migrations/<time>_NAME/migration.sql with what prisma/schema.prisma has and the migrations lack.
 * Read the file before committing it: renames appear as drop + add, and SQL that Prisma cannot express (expression indexes, CHECKs,
 * backfills) is added to it by hand. A migration that has been released is never edited; the applier refuses changed files.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrationsFolder, missingSql } from "./schema-diff.ts";

const lockFile = `# Written by Prisma's convention: says for which database the migrations are.\nprovider = "postgresql"\n`;

async function writeMigration(name: string): Promise<string> {
  mkdirSync(migrationsFolder, { recursive: true });
  const sql = await missingSql();
  if (sql === undefined) return "The migrations already give the schema; nothing to write.";
  const stamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  const folder = join(migrationsFolder, `${stamp}_${name}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "migration.sql"), sql);
  const lock = join(migrationsFolder, "migration_lock.toml");
  if (!existsSync(lock)) writeFileSync(lock, lockFile);
  return `Wrote ${join(folder, "migration.sql")}`;
}

const name = process.argv[2] ?? "";
if (/^[a-z][a-z0-9_]*$/.test(name)) {
  process.stdout.write(`${await writeMigration(name)}\n`);
} else {
  process.stderr.write(
    "Give the migration a name in lower case with underscores: npm run db:migration add_reactions\n",
  );
  process.exitCode = 1;
}
