/**
 * Encryption of secrets at rest (SPEC C5): AES-256-GCM with a fresh nonce each time, bound to the bot, connector and field it belongs to, so a row copied
 * to another place does not open. The key id travels with each sealed value: several keys can be read while one writes, which is how keys are rotated.
 * Invariant: no error text holds a value or a key. Rows are left to the store, keeping and finding the key to vault-key.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { SecretValue } from "../secret-value.ts";
import type { VaultKey, VaultKeys } from "./vault-key.ts";

/** The place a secret belongs to; all three are authenticated. */
export interface SecretPlace {
  readonly botId: string;
  readonly connector: string;
  readonly field: string;
}

/** What is stored: 12 bytes of nonce, 16 of tag. Rows read back may come in any byte array. */
export interface SealedValue<Bytes extends Uint8Array = Uint8Array> {
  readonly keyId: string;
  readonly nonce: Bytes;
  readonly ciphertext: Bytes;
  readonly tag: Bytes;
}

/** Bytes that share memory with nothing else, as database clients want them. */
type OwnBytes = Uint8Array<ArrayBuffer>;

/** unknown-key: sealed with a key this process was not given · damaged: changed, moved to another place, or cut. */
export type UnsealResult =
  | { readonly ok: true; readonly value: SecretValue }
  | { readonly ok: false; readonly reason: "unknown-key" | "damaged"; readonly text: string };

/** Seals and opens secrets. Neither call throws for bad data; sealing with a working key cannot fail. */
export interface VaultCipher {
  /** Key id new secrets are sealed with; values sealed with another one should be sealed again when read (rotation). */
  readonly keyId: string;
  seal(secret: { readonly plaintext: SecretValue; readonly aad: SecretPlace }): SealedValue<OwnBytes>;
  unseal(sealed: SealedValue, aad: SecretPlace): UnsealResult;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = "aes-256-gcm";

/** A cipher that seals with `keys.current` and opens with any of `keys.all`. */
export function createVaultCipher(keys: VaultKeys): VaultCipher {
  const byId = new Map(keys.all.map((key) => [key.id, key]));
  return {
    keyId: keys.current.id,
    seal: ({ plaintext, aad }) => seal(keys.current, plaintext, aad),
    unseal(sealed, aad) {
      const key = byId.get(sealed.keyId);
      if (key === undefined) {
        return {
          ok: false,
          reason: "unknown-key",
          text: `This secret was sealed with key ${sealed.keyId}, which is not among the keys given. Add that key to the key file, or ask for the secret again.`,
        };
      }
      return unseal(key, sealed, aad);
    },
  };
}

function seal(key: VaultKey, plaintext: SecretValue, place: SecretPlace): SealedValue<OwnBytes> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(toAad(key.id, place));
  const ciphertext = Buffer.concat([cipher.update(plaintext.reveal(), "utf8"), cipher.final()]);
  return { keyId: key.id, nonce: copy(nonce), ciphertext: copy(ciphertext), tag: copy(cipher.getAuthTag()) };
}

function unseal(key: VaultKey, sealed: SealedValue, place: SecretPlace): UnsealResult {
  try {
    // A shorter tag would be far easier to forge, so its length is fixed here rather than taken from the row.
    const decipher = createDecipheriv(ALGORITHM, key.bytes, sealed.nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(toAad(key.id, place));
    decipher.setAuthTag(sealed.tag);
    const plaintext = Buffer.concat([decipher.update(sealed.ciphertext), decipher.final()]);
    return { ok: true, value: new SecretValue(plaintext.toString("utf8")) };
  } catch {
    // Every cause (wrong place, flipped bit, cut row) looks the same on purpose; the remedy is the same too.
    return {
      ok: false,
      reason: "damaged",
      text: "This secret cannot be opened: it was changed or belongs elsewhere. Ask for it again.",
    };
  }
}

/** JSON of a list, so that no two places can run together into the same bytes. */
function toAad(keyId: string, place: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify(["parley-vault-1", keyId, place.botId, place.connector, place.field]), "utf8");
}

/** Plain arrays of their own: a slice of Node's shared pool could carry neighbours along. */
function copy(bytes: Uint8Array): OwnBytes {
  return new Uint8Array(bytes);
}
