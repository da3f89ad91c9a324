/**
 * What operator commands need of Slack before any bot runs: the app manifest with its one-click link, and a check of a bot's tokens that names what
 * is missing. Loads Slack's library only when a token is checked.
 */

import { z } from "zod";
import type { Log } from "../../engine/index.ts";
import { toFields, toTexts } from "../shared/fields.ts";
import { createCalls } from "./clients.ts";
import { commandName } from "./command-name.ts";
import { problemOf } from "./errors.ts";
import { type ManifestInput, manifestLink, missingScopes, scopeUse, slackManifest } from "./manifest.ts";

const tokensSchema = z.object({
  botToken: z.string().optional(),
  appToken: z.string().optional(),
  signingSecret: z.string().optional(),
  clientId: z.string().optional(),
  clientSecret: z.string().optional(),
});
type Tokens = z.infer<typeof tokensSchema>;

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
    readonly receipts?: boolean;
  }): Promise<readonly SlackFinding[]> {
    const { personaOf } = toFields(bot.settings);
    if (typeof personaOf === "string")
      return [{ state: "ok", what: `speaks through the Slack app of ${personaOf} (scope chat:write.customize)` }];
    const parsed = tokensSchema.safeParse(bot.settings);
    const tokens: Tokens = parsed.success ? parsed.data : {};
    const { botToken, appToken, clientId, clientSecret } = tokens;
    const canBeAdded = clientId !== undefined && clientSecret !== undefined;
    if (botToken === undefined && !canBeAdded)
      return [{ state: "fault", what: `${bot.botId}: no Slack bot token`, fix: "Set slack.botToken." }];
    const checks: Promise<readonly SlackFinding[]>[] = [];
    if (botToken !== undefined) checks.push(checkBotToken(bot.apiUrl, botToken, bot));
    if (appToken !== undefined) checks.push(checkAppToken(bot.apiUrl, appToken));
    if (canBeAdded) checks.push(checkClient(bot.apiUrl, clientId, clientSecret));
    return (await Promise.all(checks)).flat();
  },
};

async function checkBotToken(apiUrl: string, token: string, bot: CheckedBot): Promise<readonly SlackFinding[]> {
  try {
    const calls = await createCalls(apiUrl, token, SILENT);
    const answer = toFields(await calls.web("auth.test", {}));
    const ok: SlackFinding = {
      state: "ok",
      what: `Slack knows the bot token: ${String(answer.user)} in ${String(answer.team)}`,
    };
    const granted = toTexts(toFields(answer.response_metadata).scopes);
    return granted.length === 0 ? [ok] : [ok, ...scopeFindings(granted, bot)];
  } catch (error) {
    return [toFault("bot token", "OAuth & Permissions", error)];
  }
}

interface CheckedBot {
  readonly botId: string;
  readonly receipts?: boolean;
}

/** What each missing permission stands for, so that nobody has to guess whether it matters. */
function scopeFindings(granted: readonly string[], { botId, receipts }: CheckedBot): readonly SlackFinding[] {
  const useOf = (scope: string) =>
    receipts && scope === "reactions:write" ? "react, and show the receipts of slack.receipts" : scopeUse(scope);
  const findings: SlackFinding[] = [];
  const missing = missingScopes(granted);
  if (missing.length > 0) {
    const uses = missing.map((scope) => `${scope} (${useOf(scope)})`).join(", ");
    const fix = `Add them under OAuth & Permissions (npx parley manifest ${botId} prints the whole list), then install the app again.`;
    findings.push({ state: "fault", what: `The Slack app lacks the scopes ${uses}`, fix });
  }
  if (!granted.includes("commands")) {
    const fix =
      "Add the scope commands and the command itself, or make the app from the manifest; then install it again.";
    findings.push({
      state: "warning",
      what: `The Slack app lacks the scope commands: ${commandName(botId)} does not work`,
      fix,
    });
  }
  return findings;
}

/** Slack answers a code that does not exist differently when the app itself is known. */
async function checkClient(apiUrl: string, clientId: string, clientSecret: string): Promise<readonly SlackFinding[]> {
  const known: SlackFinding = {
    state: "ok",
    what: "Slack knows the client id and secret: the app can be added to workspaces",
  };
  try {
    const calls = await createCalls(apiUrl, undefined, SILENT);
    await calls.web("oauth.v2.access", { client_id: clientId, client_secret: clientSecret, code: "doctor" });
    return [known];
  } catch (error) {
    const { code } = problemOf(error);
    if (code === "invalid_code" || code === "code_already_used" || code === "bad_redirect_uri") return [known];
    return [toFault("client id and secret", "Basic Information > App Credentials", error)];
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
