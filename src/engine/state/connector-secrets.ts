/**
 * The vault as connectors see it (SPEC C5, P2): `${secret:NAME}` of a server's settings, by connector and field, and tokens that people signed in for,
 * sealed in a scope of their own. Invariant: a value leaves here only as a SecretValue.
 */

import type { KeyValueStore } from "../adapter.ts";
import type { SecretValue } from "../secret-value.ts";
import type { Store } from "../store/store.ts";
import type { SealedValue, SecretPlace, VaultCipher } from "./vault.ts";

/** Secrets for connectors. */
export interface ConnectorSecrets {
  /** The newest secret given for this connector and field by somebody who may decide about the workspace; null when there is none. */
  read(connector: string, field: string): Promise<SecretValue | null>;
  /** Keeps a value under a key of its own, sealed; replaces an older one. */
  keep(connector: string, key: string, value: SecretValue): Promise<void>;
  /** A kept value; null when there is none or it cannot be opened with today's key. */
  kept(connector: string, key: string): Promise<SecretValue | null>;
  forget(connector: string, key: string): Promise<void>;
}

/** Secrets over the store. A settings connector serves everybody, so only administrators' secrets count, where there are administrators. */
export function createConnectorSecrets(parts: {
  readonly store: Pick<Store, "listSecrets" | "keyValues">;
  readonly cipher: VaultCipher;
  readonly orgId: string;
  readonly admins: readonly string[];
}): ConnectorSecrets {
  const kv = parts.store.keyValues("connectors");
  const rowKey = (connector: string, key: string) => `sealed:${connector}:${key}`;
  return {
    async read(connector, field) {
      const all = await parts.store.listSecrets(parts.orgId);
      const fits = all.filter((row) => row.connector === connector && row.field === field);
      const row = fits.findLast(({ personId }) => isTrusted(parts.admins, personId));
      const opened = row && parts.cipher.unseal(row, row);
      return opened?.ok ? opened.value : null;
    },
    async keep(connector, key, value) {
      const { keyId, nonce, ciphertext, tag } = parts.cipher.seal({ plaintext: value, aad: placeOf(connector, key) });
      const row = { keyId, nonce: toText(nonce), ciphertext: toText(ciphertext), tag: toText(tag) };
      await kv.set(rowKey(connector, key), row);
    },
    kept: (connector, key) => open(parts.cipher, kv, rowKey(connector, key), placeOf(connector, key)),
    forget: (connector, key) => kv.delete(rowKey(connector, key)),
  };
}

function isTrusted(admins: readonly string[], personId: string): boolean {
  return admins.length === 0 || admins.includes(personId) || admins.includes(personId.split(":").slice(2).join(":"));
}

function placeOf(connector: string, key: string): SecretPlace {
  return { botId: "", connector: `mcp:${connector}`, field: key };
}

async function open(
  cipher: VaultCipher,
  kv: KeyValueStore,
  key: string,
  place: SecretPlace,
): Promise<SecretValue | null> {
  const row = (await kv.get(key)) as Record<keyof SealedValue, string> | null | undefined;
  if (!row) return null;
  const { keyId, nonce, ciphertext, tag } = row;
  const sealed = { keyId, nonce: toBytes(nonce), ciphertext: toBytes(ciphertext), tag: toBytes(tag) };
  const opened = cipher.unseal(sealed, place);
  return opened.ok ? opened.value : null;
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function toBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
