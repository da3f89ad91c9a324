/**
 * One connected Slack bot as the other files see it: who it is, how it calls Slack, whom it knows. Made by connect, used by everything that sends
 * or answers.
 */

import type { AdapterContext, Log } from "../../engine/index.ts";
import type { SlackCalls } from "./clients.ts";
import type { Directory } from "./directory.ts";
import type { SlackIdentity } from "./inbound.ts";

/** The bot's own block of the settings file. */
export interface SlackAccountSettings {
  readonly botToken: string;
  readonly appToken?: string | undefined;
  readonly signingSecret?: string | undefined;
}

/** A bot whose token Slack accepted. */
export interface SlackBot {
  readonly botId: string;
  readonly name: string;
  readonly apiUrl: string;
  readonly self: SlackIdentity;
  readonly calls: SlackCalls;
  readonly directory: Directory;
  readonly context: AdapterContext;
  readonly log: Log;
}
