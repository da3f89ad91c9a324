/**
 * Masks every stored secret of the owner by exact value on its way out (SPEC C6): bubbles, tool results, log lines. Values are opened once and
 * kept in memory only; the set is read again after a secret was stored and from time to time, because another process may have stored one.
 */

import type { Connectors } from "../connector.ts";
import type { Log } from "../log.ts";
import type { VaultCipher } from "../state/vault.ts";
import type { Store } from "../store/store.ts";
import { createMask, type Mask } from "./mask-secrets.ts";

/** Knows every stored secret of the owner and hides it in texts. */
export interface SecretMask {
  readonly mask: Mask;
  /** Masks every string inside a JSON-like value. */
  deep<T>(value: T): T;
  refresh(): Promise<void>;
}

/** Starts empty; call `refresh` before the first bubble. */
export function createSecretMask(parts: {
  readonly store: Store;
  readonly cipher: VaultCipher;
  readonly orgId: string;
  readonly log: Log;
  /** Secrets that are kept elsewhere: tokens of connectors. */
  readonly connectors?: Pick<Connectors, "secrets"> | undefined;
}): SecretMask {
  let current: Mask = (text) => text;
  const mask: Mask = (text) => current(text);
  return {
    mask,
    deep: (value) => maskDeep(mask, value) as typeof value,
    async refresh() {
      const sealed = await parts.store.listSecrets(parts.orgId);
      const opened = sealed.map((item) => parts.cipher.unseal(item, item));
      const unreadable = opened.filter((item) => !item.ok).length;
      if (unreadable > 0)
        parts.log.error({ unreadable }, "stored secrets cannot be opened with this key; they are not masked");
      const own = opened.flatMap((item) => (item.ok ? [item.value.reveal()] : []));
      current = createMask([...own, ...(parts.connectors?.secrets() ?? [])]);
    },
  };
}

function maskDeep(mask: Mask, value: unknown): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskDeep(mask, item));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(mask, item)]));
}
