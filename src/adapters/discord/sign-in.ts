/**
 * Finds out whose token it is, what the portal allows the application, and which servers it is in. Makes the bot the other files work with.
 * Rejects with the client's errors; nothing is connected here.
 */

import type { AdapterAccount, AdapterContext, Log } from "../../engine/index.ts";
import { toFields, toList, toText } from "../shared/fields.ts";
import type { DiscordBot, DiscordIdentity } from "./bot.ts";
import type { DiscordCalls } from "./clients.ts";
import type { Directory } from "./directory.ts";
import { createEchoes } from "./echoes.ts";
import { createInstalls } from "./installs.ts";
import { createMoves } from "./moves.ts";
import { createPresence } from "./presence.ts";

/** Message Content: approved by Discord (bit 18), or switched on for an application in few servers (bit 19). */
export const CONTENT_FLAGS = (1 << 18) | (1 << 19);
const GUILD_PAGES = 15;

/** What signing in needs. */
export interface SignInParts {
  readonly account: AdapterAccount;
  readonly context: AdapterContext;
  readonly calls: DiscordCalls;
  readonly directory: Directory;
  readonly ours: ReadonlyMap<string, string>;
  readonly log: Log;
  /** Told of each installation before any event in it. */
  readonly onInstallation: (installationId: string, bot: () => DiscordBot, workspaceId: string) => void;
}

/** The bot, and a warning for the operator when its settings at Discord keep something from working. */
export interface SignedIn {
  readonly bot: DiscordBot;
  readonly warning?: string;
}

/** Signs in. */
export async function signIn(parts: SignInParts): Promise<SignedIn> {
  const { account, context, calls, directory, ours, log } = parts;
  const [application, user] = await Promise.all([
    calls.call("get", "/applications/@me").then(toFields),
    calls.call("get", "/users/@me").then(toFields),
  ]);
  const self: DiscordIdentity = {
    appId: toText(application.id) ?? toText(user.id) ?? "",
    botUserId: toText(user.id) ?? "",
    readsContent: (Number(application.flags ?? 0) & CONTENT_FLAGS) !== 0,
  };
  const installs = createInstalls(context, account, self, (id, workspaceId) =>
    parts.onInstallation(id, () => bot, workspaceId),
  );
  const onChange = createMoves(() => bot);
  const bot: DiscordBot = {
    botId: account.botId,
    name: account.name,
    self,
    calls,
    directory,
    ours,
    echoes: createEchoes(),
    installs,
    presence: createPresence({ calls, botUserId: self.botUserId, onChange }),
    context,
    log,
  };
  await installs.of(undefined);
  for (const guildId of await guildIds(calls)) await installs.of(guildId);
  const warning = warningFor(application);
  return { bot, ...(warning === undefined ? {} : { warning }) };
}

async function guildIds(calls: DiscordCalls): Promise<readonly string[]> {
  const found: string[] = [];
  for (let page = 0; page < GUILD_PAGES; page += 1) {
    const after = found.at(-1);
    const answer = await calls.call("get", "/users/@me/guilds", {
      query: { limit: "200", ...(after === undefined ? {} : { after }) },
    });
    const ids = toList(answer).flatMap((guild) => toText(guild.id) ?? []);
    found.push(...ids.filter((id) => !found.includes(id)));
    if (ids.length < 200) break;
  }
  return found;
}

function warningFor(application: Readonly<Record<string, unknown>>): string | undefined {
  if (toText(application.interactions_endpoint_url) === undefined) return undefined;
  return "The application has an Interactions Endpoint URL, so clicks on buttons never reach Parley. Remove it in the developer portal under General Information.";
}
