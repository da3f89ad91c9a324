/**
 * Sealed secrets (SPEC C5). Only ciphertext passes here; sealing and opening are state/vault's. A new secret comes in with the card's answer
 * (see intake), in the same transaction.
 */
import type { Database } from "./hot-path.ts";
import type { SealedSecret, Store } from "./store.ts";

type VaultOperations = Pick<Store, "readSecret" | "listSecrets" | "revokeSecret">;

const live = `"revokedAt" IS NULL AND ("expiresAt" IS NULL OR "expiresAt" > now())`;

const selectSecret = `
SELECT * FROM "VaultSecret" WHERE "botId" = $1 AND "connector" = $2 AND "field" = $3 AND ${live} ORDER BY "createdAt" DESC LIMIT 1`;

const selectSecrets = `SELECT * FROM "VaultSecret" WHERE "orgId" = $1 AND ${live} ORDER BY "createdAt", "id"`;

const revokeSecret = `
UPDATE "VaultSecret" SET "revokedAt" = now() WHERE "botId" = $1 AND "connector" = $2 AND "field" = $3 AND "revokedAt" IS NULL RETURNING "id"`;

interface SecretRow extends Omit<SealedSecret, "nonce" | "ciphertext" | "tag"> {
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
  readonly tag: Buffer;
}

function sealedOf(row: SecretRow): SealedSecret {
  const { botId, connector, field, keyId, personId } = row;
  const bytes = {
    nonce: new Uint8Array(row.nonce),
    ciphertext: new Uint8Array(row.ciphertext),
    tag: new Uint8Array(row.tag),
  };
  return { botId, connector, field, keyId, personId, ...bytes };
}

/** The operations on the vault's rows. */
export function createVaultOperations({ query }: Database): VaultOperations {
  return {
    async readSecret({ botId, connector, field }) {
      const [row] = await query<SecretRow>(selectSecret, [botId, connector, field]);
      return row ? sealedOf(row) : null;
    },
    listSecrets: async (orgId) => (await query<SecretRow>(selectSecrets, [orgId])).map(sealedOf),
    revokeSecret: async ({ botId, connector, field }) =>
      (await query(revokeSecret, [botId, connector, field])).length > 0,
  };
}
