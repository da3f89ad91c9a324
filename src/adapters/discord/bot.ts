/**
 * One connected Discord bot as the other files see it: who it is, how it calls Discord, what it knows of places. Made by connect, used by everything
 * that sends or answers. Discord's servers are our workspaces: one account has an installation in each of them and one for direct messages.
 */

import type { AdapterContext, Log } from "../../engine/index.ts";
import type { DiscordCalls } from "./clients.ts";
import type { Directory } from "./directory.ts";
import type { Echoes } from "./echoes.ts";
import type { Installs } from "./installs.ts";
import type { Presence } from "./presence.ts";

/** The account a token belongs to. */
export interface DiscordIdentity {
  readonly appId: string;
  readonly botUserId: string;
  /** Whether the portal lets it read messages that are not addressed to it. */
  readonly readsContent: boolean;
}

/** A bot whose token Discord accepted. */
export interface DiscordBot {
  readonly botId: string;
  readonly name: string;
  readonly self: DiscordIdentity;
  readonly calls: DiscordCalls;
  readonly directory: Directory;
  /** Names of our own bots by account id, this one included. */
  readonly ours: ReadonlyMap<string, string>;
  readonly echoes: Echoes;
  readonly installs: Installs;
  /** The channels it sees. */
  readonly presence: Presence;
  readonly context: AdapterContext;
  readonly log: Log;
}
