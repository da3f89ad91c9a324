/**
 * Which platform accounts are ours (SPEC I1, I7): an index over all installations, so that echoes of any hosted bot are recognised and a
 * bot named in another bot's copy of a message is found. Kept by createEngine, one per process.
 */

import type { BotHandle, Installation } from "../bot.ts";
import type { PersonRef } from "../person.ts";

/** Lookups over our accounts. */
export interface Installations {
  add(installation: Installation, botName: string): void;
  get(installationId: string): Installation | undefined;
  /** The bot's account in the same platform workspace as `beside`. */
  ofBot(botId: string, beside: Pick<Installation, "platform" | "workspaceId">): Installation | undefined;
  handleOf(installation: Installation): BotHandle;
  /** True when the author is one of our own bots. */
  isOurs(person: PersonRef, beside: Pick<Installation, "platform" | "workspaceId">): boolean;
  botOfPlatformId(platformId: string, beside: Pick<Installation, "platform" | "workspaceId">): string | undefined;
  /** Several where bots show themselves as personas of one platform app. */
  botsOfPlatformId(platformId: string, beside: Pick<Installation, "platform" | "workspaceId">): readonly string[];
  /** The bots, and the personas that speak through their apps: where the app is, they are. */
  withPersonas(botIds: readonly string[], beside: Pick<Installation, "platform" | "workspaceId">): readonly string[];
  botName(botId: string): string;
  /** The configured order of bots, by which Groups speak (SPEC G4); bots that are not listed come last. */
  setOrder(botIds: readonly string[]): void;
  inOrder(botIds: readonly string[]): readonly string[];
  order(): readonly string[];
  all(): readonly Installation[];
  /** Our accounts in a platform workspace. */
  beside(other: Pick<Installation, "platform" | "workspaceId">): readonly Installation[];
}

/** An empty index. */
export function createInstallations(): Installations {
  const byId = new Map<string, Installation>();
  const names = new Map<string, string>();
  let order: readonly string[] = [];
  const rank = (botId: string) => (order.includes(botId) ? order.indexOf(botId) : order.length);
  const beside = (other: Pick<Installation, "platform" | "workspaceId">) =>
    [...byId.values()].filter((item) => item.platform === other.platform && item.workspaceId === other.workspaceId);
  const idsOf = (item: Installation) => [item.botUserId, ...item.otherIds];
  return {
    add(installation, botName) {
      byId.set(installation.id, installation);
      names.set(installation.botId, botName);
    },
    get: (id) => byId.get(id),
    ofBot: (botId, other) => beside(other).find((item) => item.botId === botId),
    handleOf: (item) => ({
      ...{ botId: item.botId, name: names.get(item.botId) ?? item.botId, platformIds: idsOf(item) },
      ...(item.persona ? { isPersona: true } : {}),
    }),
    isOurs: (person, other) => beside(other).some((item) => idsOf(item).includes(person.platformId)),
    botOfPlatformId: (id, other) => beside(other).find((item) => idsOf(item).includes(id))?.botId,
    botsOfPlatformId: (id, other) => beside(other).flatMap((item) => (idsOf(item).includes(id) ? [item.botId] : [])),
    withPersonas: (botIds, other) => {
      const apps = beside(other).filter((item) => botIds.includes(item.botId));
      const sharing = beside(other).filter((item) => apps.some((app) => app.botUserId === item.botUserId));
      return [...new Set([...botIds, ...sharing.map((item) => item.botId)])];
    },
    botName: (botId) => names.get(botId) ?? botId,
    setOrder(botIds) {
      order = botIds;
    },
    inOrder: (botIds) => [...new Set(botIds)].sort((left, right) => rank(left) - rank(right)),
    order: () => order,
    all: () => [...byId.values()],
    beside,
  };
}

/** Bots that were taken out of the settings keep their rows, but are nobody's teammates. */
export function isActive(installations: Installations, botId: string): boolean {
  return installations.order().length === 0 || installations.order().includes(botId);
}
