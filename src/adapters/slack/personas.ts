/**
 * Bots that speak through another bot's Slack app (SPEC I1, `personas`; slack.md 1.3): each gets an installation of its own beside the app's, in every
 * workspace the app is signed in to. They have no connection; what arrives comes by the app's, and routing finds out who is called.
 */

import type { AdapterAccount, AdapterContext, BotHealth, Persona } from "../../engine/index.ts";
import type { SlackBot, SlackPersonaSettings } from "./bot.ts";

/** Personas of one adapter. */
export interface Personas {
  /** Adds a persona; those of `signedIn` bots it shares the app with are made at once, others when they sign in. */
  add(account: AdapterAccount, settings: SlackPersonaSettings, context: AdapterContext): Promise<void>;
  /** A bot has signed in to a workspace: its personas come to life there. */
  hostReady(host: SlackBot): Promise<void>;
  /** The bot whose connection serves a persona. */
  hostOf(botId: string): string | undefined;
  /** The health of each persona is that of its host's connection. */
  health(hosts: readonly BotHealth[]): readonly BotHealth[];
}

/** What personas need of the adapter. */
export interface PersonasParts {
  /** Bots that are signed in, personas excluded. */
  readonly signedIn: () => readonly SlackBot[];
  readonly admit: (bot: SlackBot) => void;
}

interface Entry {
  readonly account: AdapterAccount;
  readonly hostId: string;
  readonly persona: Persona;
  readonly context: AdapterContext;
}

/** None at first. */
export function createPersonas(parts: PersonasParts): Personas {
  const entries = new Map<string, Entry>();
  const appear = async ({ account, persona, context }: Entry, host: SlackBot) => {
    const { appId, workspaceId, botUserId, slackBotId } = host.self;
    const otherIds = [slackBotId, appId];
    const installation = await context.identify(account, { appId, workspaceId, botUserId, otherIds, persona });
    const { botId, name, role } = account;
    const self = { ...host.self, installationId: installation.id };
    const log = context.log.child({ bot: botId, platform: "slack" });
    parts.admit({ ...host, botId, name, role, self, persona, context, log });
  };
  return {
    async add(account, { personaOf, icon }, context) {
      const entry = { account, hostId: personaOf, persona: { name: account.name, ...(icon ? { icon } : {}) }, context };
      entries.set(account.botId, entry);
      for (const host of parts.signedIn()) if (host.botId === personaOf) await appear(entry, host);
    },
    async hostReady(host) {
      for (const entry of entries.values()) if (entry.hostId === host.botId) await appear(entry, host);
    },
    hostOf: (botId) => entries.get(botId)?.hostId,
    health: (hosts) =>
      [...entries.values()].map(({ account, hostId }) => {
        const host = hosts.find((one) => one.botId === hostId);
        return host
          ? { ...host, botId: account.botId }
          : {
              botId: account.botId,
              state: "failed" as const,
              remedy: `${hostId}, whose Slack app it uses, is not set up.`,
            };
      }),
  };
}
