/**
 * Bots and installations. The settings file is synchronised at every start, by several processes at once if need be.
 * Invariant: what was made or changed at run time is never overwritten by the settings file, and ids of installations never change.
 */
import { randomUUID } from "node:crypto";
import type { Installation } from "../bot.ts";
import { botOf, installationOf } from "./from-rows.ts";
import type { Database } from "./hot-path.ts";
import { toJson } from "./hot-path.ts";
import type { BotRow, InstallationRow } from "./rows.ts";
import type { BotSeed, InstallationSeed, Store } from "./store.ts";

type ConfigurationOperations = Pick<
  Store,
  "syncBots" | "saveInstallation" | "listInstallations" | "readBot" | "listBots"
>;

/** New or changed bots of the settings file; a change raises the version, and a bot that comes back is no longer retired. */
const upsertBots = `
INSERT INTO "Bot" ("id", "orgId", "name", "role", "model", "lanes")
SELECT seed."id", $1, seed."name", seed."role", seed."model", seed."lanes"
FROM jsonb_to_recordset($2::jsonb) AS seed ("id" text, "name" text, "role" text, "model" text, "lanes" int)
ORDER BY seed."id"
ON CONFLICT ("id") DO UPDATE SET
  "name" = excluded."name", "role" = excluded."role", "model" = excluded."model", "lanes" = excluded."lanes",
  "version" = "Bot"."version" + 1, "retiredAt" = NULL
WHERE "Bot"."source" = 'settings' AND (
  "Bot"."retiredAt" IS NOT NULL OR
  ("Bot"."name", "Bot"."role", "Bot"."model", "Bot"."lanes") IS DISTINCT FROM
  (excluded."name", excluded."role", excluded."model", excluded."lanes"))`;

const retireBots = `
UPDATE "Bot" SET "retiredAt" = now()
WHERE "orgId" = $1 AND "source" = 'settings' AND "retiredAt" IS NULL AND "id" <> ALL ($2::text[])`;

const upsertInstallation = `
WITH account AS (
  INSERT INTO "Account" ("id", "botId", "platform", "appId") VALUES ($1, $2, $3, $4)
  ON CONFLICT ("platform", "appId", "botId") DO UPDATE SET "appId" = excluded."appId" RETURNING *
), saved AS (
  INSERT INTO "Installation" ("id", "accountId", "workspaceId", "orgId", "botUserId", "otherIds", "credentialRef", "persona")
  SELECT $5, account."id", $6, $7, $8, $9::text[], $10, $11::jsonb FROM account
  ON CONFLICT ("accountId", "workspaceId") DO UPDATE SET
    "orgId" = excluded."orgId", "botUserId" = excluded."botUserId", "otherIds" = excluded."otherIds",
    "credentialRef" = excluded."credentialRef", "persona" = excluded."persona"
  RETURNING *
)
SELECT saved.*, account."botId", account."platform", account."appId" FROM saved, account`;

const selectInstallations = `
SELECT i.*, a."botId", a."platform", a."appId"
FROM "Installation" i JOIN "Account" a ON a."id" = i."accountId" ORDER BY i."createdAt", i."id"`;

/** The operations on bots and installations. */
export function createConfigurationOperations({ prisma, query }: Database): ConfigurationOperations {
  return {
    async syncBots(orgId, seeds) {
      await query(`INSERT INTO "Org" ("id", "name") VALUES ($1, $1) ON CONFLICT ("id") DO NOTHING`, [orgId]);
      await query(upsertBots, [orgId, toJson(seeds)]);
      await query(retireBots, [orgId, seeds.map((seed: BotSeed) => seed.id)]);
      const rows = await prisma.bot.findMany({
        where: { orgId, retiredAt: null },
        orderBy: [{ createdAt: "asc" }, { id: "asc" }],
      });
      return rows.map((row: BotRow) => botOf(row));
    },

    async saveInstallation(orgId, seed: InstallationSeed): Promise<Installation> {
      const [row] = await query<InstallationRow>(upsertInstallation, [
        ...[randomUUID(), seed.botId, seed.platform, seed.appId],
        ...[randomUUID(), seed.workspaceId, orgId, seed.botUserId, seed.otherIds, seed.credentialRef],
        seed.persona ? toJson(seed.persona) : null,
      ]);
      return installationOf(row as InstallationRow);
    },

    async listInstallations() {
      return (await query<InstallationRow>(selectInstallations)).map(installationOf);
    },

    async listBots(orgId) {
      const rows = await prisma.bot.findMany({
        where: { orgId, retiredAt: null },
        orderBy: [{ createdAt: "asc" }, { id: "asc" }],
      });
      return rows.map((row: BotRow) => botOf(row));
    },

    async readBot(botId) {
      const row = await prisma.bot.findUnique({ where: { id: botId } });
      return row === null ? null : botOf(row);
    },
  };
}
