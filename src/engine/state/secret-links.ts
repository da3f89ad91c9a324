/**
 * Tokens of the one-time addresses `/s/<token>` on which a person enters a secret into a masked web form (SPEC C5).
 * Invariant: only the hash is stored, so a copy of the database opens no form. Expiry and "used once" are left to the card's row in the store.
 */
import { createHash, randomBytes } from "node:crypto";

/** A fresh link: `token` goes into the address and nowhere else, `hash` (SHA-256, hex) into the row. */
export interface SecretLink {
  readonly token: string;
  readonly hash: string;
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Makes a token of 32 random bytes (43 characters of base64url). */
export function createSecretLink(): SecretLink {
  const token = randomBytes(32).toString("base64url");
  return { token, hash: sha256(token) };
}

/** The hash to look a visitor's token up by; null when the text cannot be one of our tokens, which saves the query. */
export function hashSecretLink(token: string): string | null {
  return TOKEN.test(token) ? sha256(token) : null;
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
