/**
 * What operator commands need of Slack before any bot runs: the app manifest with its one-click link, and a check of a bot's tokens that names what
 * is missing. Loads Slack's library only when a token is checked.
 */

import { z } from "zod";
import type { Log } from "../../engine/index.ts";
import { createCalls } from "./clients.ts";
import { problemOf } from "./errors.ts";
import { toFields, toTexts } from "./json.ts";
import { type ManifestInput, manifestLink, missingScopes, slackManifest } from "./manifest.ts";

const tokensSchema = z.object({ botToken: z.string(), appToken: z.string().optional() });

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT,
};

/** One thing that was looked at; `fix` says what to do. */
interface SlackFinding {
  readonly state: "ok" | "warning" | "fault";
  readonly what: string;
  readonly fix?: string;
}

/** Manifest and token check for the commands. `check` never throws and answers within the clients' time limits. */
export const setup = {
  manifest(bot: ManifestInput): { readonly text: string; readonly link: string } {
    const manifest = slackManifest(bot);
    return { text: JSON.stringify(manifest, null, 2), link: manifestLink(manifest) };
  },
  async check(bot: {
    readonly botId: string;
    readonly settings: unknown;
    readonly apiUrl: string;
  }): Promise<readonly SlackFinding[]> {
    const tokens = tokensSchema.safeParse(bot.settings);
    if (!tokens.success)
      return [{ state: "fault", what: `${bot.botId}: no Slack bot token`, fix: "Set slack.botToken." }];
    const checks = [checkBotToken(bot.apiUrl, tokens.data.botToken)];
    if (tokens.data.appToken) checks.push(checkAppToken(bot.apiUrl, tokens.data.appToken));
    return (await Promise.all(checks)).flat();
  },
};

async function checkBotToken(apiUrl: string, token: string): Promise<readonly SlackFinding[]> {
  try {
    const calls = await createCalls(apiUrl, token, SILENT);
    const answer = toFields(await calls.web("auth.test", {}));
    const ok: SlackFinding = {
      state: "ok",
      what: `Slack knows the bot token: ${String(answer.user)} in ${String(answer.team)}`,
    };
    const granted = toTexts(toFields(answer.response_metadata).scopes);
    const missing = granted.length === 0 ? [] : missingScopes(granted);
    if (missing.length === 0) return [ok];
    const fix = "Add them under OAuth & Permissions, then install the app again.";
    return [ok, { state: "fault", what: `The Slack app lacks the scopes ${missing.join(", ")}`, fix }];
  } catch (error) {
    return [toFault("bot token", "OAuth & Permissions", error)];
  }
}

async function checkAppToken(apiUrl: string, token: string): Promise<readonly SlackFinding[]> {
  try {
    const calls = await createCalls(apiUrl, token, SILENT);
    await calls.web("apps.connections.open", {});
    return [{ state: "ok", what: "Slack opens Socket Mode connections for the app token" }];
  } catch (error) {
    return [toFault("app-level token", "Basic Information > App-Level Tokens (scope connections:write)", error)];
  }
}

function toFault(what: string, where: string, error: unknown): SlackFinding {
  const { code } = problemOf(error);
  return { state: "fault", what: `Slack did not accept the ${what}: ${code}`, fix: `Copy it again from ${where}.` };
}
