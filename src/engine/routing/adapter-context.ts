/**
 * What one adapter may use of the engine (SPEC I1): its own key-value scope, the front door, the download guard, stored files, and the identity of its
 * accounts. Made anew for each account, so that one bot's adapter state carries that bot's name.
 */

import type { Adapter, AdapterAccount, AdapterContext, AdapterRoute, SecretLinkView } from "../adapter.ts";
import type { Clock } from "../clock.ts";
import type { ConversationRef } from "../conversation.ts";
import type { GuardedFetch } from "../download.ts";
import type { Receive } from "../inbound-event.ts";
import type { Log, Metrics } from "../log.ts";
import type { EngineSettings } from "../settings.ts";
import { hashSecretLink } from "../state/secret-links.ts";
import type { VaultCipher } from "../state/vault.ts";
import { type Blobs, MAX_FILE_BYTES, MAX_VIDEO_BYTES } from "../store/blobs.ts";
import { toFileLabel } from "../store/file-names.ts";
import type { Store } from "../store/store.ts";
import { createCredentials } from "./credentials.ts";
import type { Installations } from "./installations.ts";

/** What contexts are made from. */
export interface AdapterContextParts {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly guardedFetch: GuardedFetch;
  readonly installations: Installations;
  readonly cipher: VaultCipher;
  readonly settings: EngineSettings;
  readonly receive: Receive;
  readonly routes: AdapterRoute[];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The context of one account. */
export function createAdapterContext(
  parts: AdapterContextParts,
  adapter: Adapter,
  account: AdapterAccount,
): AdapterContext {
  const log = parts.log.child({ platform: adapter.platform, botId: account.botId });
  return {
    receive: parts.receive,
    kv: parts.store.keyValues(adapter.platform),
    guardedFetch: parts.guardedFetch,
    clock: parts.clock,
    log,
    metrics: parts.metrics,
    publicUrl: parts.settings.publicUrl,
    route: (route) => {
      parts.routes.push(route);
    },
    async identify(_account, facts) {
      const installation = await parts.store.saveInstallation(parts.settings.orgId, {
        ...facts,
        botId: account.botId,
        platform: adapter.platform,
        credentialRef: `settings:${account.botId}:${adapter.platform}`,
      });
      parts.installations.add(installation, account.name);
      return installation;
    },
    async openFile(file) {
      const opened = await parts.blobs.open(file);
      if (!opened) throw new Error(`The stored file ${file.sha256.slice(0, 12)} is missing.`);
      return opened.stream;
    },
    async storeFile(source, facts) {
      const put = await parts.blobs.put(source, {
        maxBytes: MAX_FILE_BYTES,
        maxVideoBytes: MAX_VIDEO_BYTES,
        fileName: facts.name,
        mediaType: facts.mediaType,
      });
      if (!put.ok) return { ok: false, text: put.text };
      return { ok: true, file: { ...put.file, name: toFileLabel(facts.name, put.file.ext) } };
    },
    readSecretLink: (token) => readSecretLink(parts, token),
    ...createCredentials(parts, adapter.platform, account.botId),
  };
}

/** What the masked form shows; null for links that are unknown, used, expired, or whose card is no longer open. */
async function readSecretLink(parts: AdapterContextParts, token: string): Promise<SecretLinkView | null> {
  const hash = hashSecretLink(token);
  const card = hash ? await parts.store.readSecretLink(hash) : null;
  if (card?.state !== "open" || card.spec.kind !== "secret") return null;
  const personId = card.allowed[0];
  const [platform, workspaceId, channelId] = card.conversationKey.split(":");
  const installation =
    platform && workspaceId ? parts.installations.ofBot(card.botId, { platform, workspaceId }) : undefined;
  if (!personId || !installation || !platform || !workspaceId || !channelId) return null;
  const base: ConversationRef = { platform, workspaceId, channelId, kind: "channel" };
  const view = await parts.store.readPlace({
    dedupeKey: `secret-link:${hash}`,
    conversationKey: card.conversationKey,
    ref: base,
    installationId: installation.id,
  });
  const name = await nameOf(parts.store, card.conversationKey, personId);
  const platformId = personId.split(":").slice(2).join(":");
  const { secret } = card.spec;
  return {
    cardId: card.id,
    label: secret.label,
    ...(secret.description ? { description: secret.description } : {}),
    connector: secret.connector,
    field: secret.field,
    botName: parts.installations.botName(card.botId),
    conversation: view.conversation ? refOf(view.conversation) : base,
    installationId: installation.id,
    person: { id: personId, platformId, name, kind: "member" },
  };
}

function refOf(conversation: ConversationRef): ConversationRef {
  const { platform, workspaceId, kind, channelId, threadId } = conversation;
  return { platform, workspaceId, kind, channelId, ...(threadId ? { threadId } : {}) };
}

/** The name the person was last seen with here. */
async function nameOf(store: Store, conversationKey: string, personId: string): Promise<string> {
  const entries = await store.readEntries({ conversationKey, limit: 200 });
  return entries.findLast((entry) => entry.author.id === personId)?.author.name ?? "the person asked";
}
