/**
 * Credentials that a platform gives a bot at run time, such as the token of a workspace that installed it. They lie sealed beside the adapter's small
 * state, under their own prefix, and open only for the bot, platform and key they were kept for.
 * Invariant: neither a value nor a part of it is ever in the row's plain fields, a log line or an error.
 */

import type { AdapterContext } from "../adapter.ts";
import type { Log } from "../log.ts";
import type { SealedValue, SecretPlace, VaultCipher } from "../state/vault.ts";
import type { Store } from "../store/store.ts";

/** The credential operations of one bot's context on one platform. */
export function createCredentials(
  parts: { readonly store: Store; readonly cipher: VaultCipher; readonly log: Log },
  platform: string,
  botId: string,
): Pick<AdapterContext, "storeCredential" | "readCredential" | "forgetCredential"> {
  const kv = parts.store.keyValues(platform);
  const rowKey = (key: string) => `credential:${botId}:${key}`;
  const placeOf = (key: string): SecretPlace => ({ botId, connector: `adapter:${platform}`, field: key });
  return {
    async storeCredential(key, value) {
      const { keyId, nonce, ciphertext, tag } = parts.cipher.seal({ plaintext: value, aad: placeOf(key) });
      await kv.set(rowKey(key), { keyId, nonce: toText(nonce), ciphertext: toText(ciphertext), tag: toText(tag) });
    },
    async readCredential(key) {
      const sealed = toSealed(await kv.get(rowKey(key)));
      const opened = sealed && parts.cipher.unseal(sealed, placeOf(key));
      if (opened && !opened.ok) parts.log.error({ reason: opened.reason }, "a kept credential cannot be opened");
      return opened?.ok ? opened.value : null;
    },
    forgetCredential: (key) => kv.delete(rowKey(key)),
  };
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function toSealed(row: unknown): SealedValue | null {
  if (typeof row !== "object" || row === null) return null;
  const { keyId, nonce, ciphertext, tag } = row as Record<string, unknown>;
  if (typeof keyId !== "string") return null;
  return { keyId, nonce: toBytes(nonce), ciphertext: toBytes(ciphertext), tag: toBytes(tag) };
}

function toBytes(text: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(typeof text === "string" ? text : "", "base64"));
}
