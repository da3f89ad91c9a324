/**
 * One bot in one Slack workspace as the other files see it: who it is there, how it calls Slack, whom it knows. Made by sign-in, used by everything
 * that sends or answers. A bot that is installed in several workspaces has one of these for each.
 */

import type { AdapterContext, Log, Persona, SecretValue } from "../../engine/index.ts";
import type { Looks } from "../shared/looks.ts";
import type { SlackCalls } from "./clients.ts";
import type { Directory } from "./directory.ts";
import type { SlackIdentity } from "./inbound.ts";
import type { Presence } from "./presence.ts";

/** The bot's own block of the settings file. */
export interface SlackAccountSettings {
  /** The workspace the app was made in; absent when workspaces are only added by "Add to Slack". */
  readonly botToken?: string | undefined;
  readonly appToken?: string | undefined;
  readonly signingSecret?: string | undefined;
  /** Both together switch on "Add to Slack". */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
}

/** The block of a bot that speaks through another bot's app (SPEC I1, `personas`). */
export interface SlackPersonaSettings {
  /** Id of the bot whose app it is. */
  readonly personaOf: string;
  /** An https address or an emoji's short name in colons. */
  readonly icon?: string | undefined;
}

/** A bot whose token Slack accepted. */
export interface SlackBot {
  readonly botId: string;
  readonly name: string;
  readonly role: string;
  readonly apiUrl: string;
  readonly self: SlackIdentity;
  readonly token: SecretValue;
  readonly calls: SlackCalls;
  readonly directory: Directory;
  readonly presence: Presence;
  readonly looks: Looks;
  /** Name and picture of its own, where several bots share this app. */
  readonly persona?: Persona;
  readonly context: AdapterContext;
  readonly log: Log;
}
