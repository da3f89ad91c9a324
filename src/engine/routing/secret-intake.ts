/**
 * Secrets on their way in (SPEC C5): sealed in memory before anything is stored, so that the value meets neither queue, log nor transcript.
 * The sealed row is committed by the same operation that claims the card.
 */

import type { Card } from "../card.ts";
import { adviseOnSecret, type SecretValue } from "../secret-value.ts";
import type { EngineSettings } from "../settings.ts";
import { createSecretLink, hashSecretLink } from "../state/secret-links.ts";
import type { VaultCipher } from "../state/vault.ts";
import type { SealedSecret, Store } from "../store/store.ts";

/** A value sealed for its card, or a reason for the person why it cannot be kept. */
export type SealResult =
  | { readonly ok: true; readonly sealed: SealedSecret }
  | { readonly ok: false; readonly reason: string };

/** Seals secrets and makes links to the form that takes them. */
export interface SecretIntake {
  seal(card: Card, value: SecretValue, personId: string): SealResult;
  /** A one-time link to the masked form, or undefined when nobody could open it (SPEC C5). */
  createLink(card: Card): Promise<string | undefined>;
  /** Null when the text cannot be a token at all. */
  hash(token: string): string | null;
}

/** Seals with the process's vault key; links live as long as a secret-request does. */
export function createSecretIntake(parts: {
  readonly store: Store;
  readonly cipher: VaultCipher;
  readonly settings: EngineSettings;
}): SecretIntake {
  return {
    seal(card, value, personId) {
      if (card.spec.kind !== "secret") return { ok: false, reason: "This card does not take a secret." };
      const { connector, field } = card.spec.secret;
      const advice = adviseOnSecret(value);
      if (advice) return { ok: false, reason: advice };
      const sealed = parts.cipher.seal({ plaintext: value, aad: { botId: card.botId, connector, field } });
      return { ok: true, sealed: { botId: card.botId, connector, field, personId, ...sealed } };
    },
    async createLink(card) {
      const base = parts.settings.publicUrl;
      if (!base && !parts.settings.localLinks) return undefined;
      const link = createSecretLink();
      await parts.store.createSecretLink({
        tokenHash: link.hash,
        cardId: card.id,
        ttlMs: parts.settings.limits.secretTtlMs,
      });
      return `${base}/s/${link.token}`;
    },
    hash: hashSecretLink,
  };
}
