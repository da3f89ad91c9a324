/**
 * Settings of Prisma's own command line. Parley itself applies migrations at start and never reads this file;
 * it lets `prisma migrate deploy` or `prisma studio` be used on a server database named by DATABASE_URL.
 */
import { defineConfig } from "prisma/config";

export default defineConfig({
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  datasource: { url: process.env.DATABASE_URL ?? "" },
});
