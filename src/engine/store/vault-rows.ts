/**
 * Sealed secrets (SPEC C5). Only ciphertext passes here; sealing and opening are state/vault's. A new secret comes in with the card's answer
 * (see intake), in the same transaction.
 */
import type { VaultSecret } from "./generated/client.ts";
import type { Database } from "./hot-path.ts";
import type { SealedSecret, Store } from "./store.ts";

type VaultOperations = Pick<Store, "readSecret" | "listSecrets" | "revokeSecret">;

function sealedOf(row: VaultSecret): SealedSecret {
  const { botId, connector, field, keyId, nonce, ciphertext, tag, personId } = row;
  return { botId, connector, field, keyId, nonce, ciphertext, tag, personId };
}

/** Neither revoked nor expired. */
function live(): { revokedAt: null; OR: ({ expiresAt: null } | { expiresAt: { gt: Date } })[] } {
  return { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] };
}

/** The operations on the vault's rows. */
export function createVaultOperations({ prisma }: Database): VaultOperations {
  return {
    async readSecret(place) {
      const row = await prisma.vaultSecret.findFirst({
        where: { ...place, ...live() },
        orderBy: { createdAt: "desc" },
      });
      return row === null ? null : sealedOf(row);
    },
    async listSecrets(orgId) {
      const rows = await prisma.vaultSecret.findMany({ where: { orgId, ...live() }, orderBy: { createdAt: "asc" } });
      return rows.map(sealedOf);
    },
    async revokeSecret(place) {
      const { count } = await prisma.vaultSecret.updateMany({
        where: { ...place, revokedAt: null },
        data: { revokedAt: new Date() },
      });
      return count > 0;
    },
  };
}
