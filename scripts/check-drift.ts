/**
 * `npm run db:drift`: fails when prisma/schema.prisma and prisma/migrations disagree, and prints the SQL that a migration would need.
 * Part of `npm run check`, so that a schema change without its migration never lands.
 */
import { mkdirSync } from "node:fs";
import { migrationsFolder, missingSql } from "./schema-diff.ts";

mkdirSync(migrationsFolder, { recursive: true });
const sql = await missingSql();
if (sql === undefined) {
  process.stdout.write("Schema and migrations agree.\n");
} else {
  process.stdout.write(`${sql}\nThe schema has changes without a migration. Run: npm run db:migration NAME\n`);
  process.exitCode = 1;
}
