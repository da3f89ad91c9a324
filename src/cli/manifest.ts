/**
 * `parley manifest <bot>`: prints the app description of a bot for its platform and a link that opens it ready to be confirmed. The description
 * itself comes from the platform's adapter. The JSON goes to standard output alone, so it can be piped; words go to standard error.
 */
import { type BotConfig, type Config, loadConfig } from "../config.ts";
import { ConfigError } from "../engine/index.ts";
import { type CommandLine, type PlatformSetup, settingsArguments, variableFor } from "./command-line.ts";

/** How the app is to be reached, when the settings do not say. */
export interface ManifestChoice {
  readonly mode?: "socket" | "http" | undefined;
  /** Public address of this server; default web.publicUrl. */
  readonly url?: string | undefined;
}

/** Prints the manifest of a bot, found by id or name. Throws ConfigError when there is no such bot. */
export function printManifest(line: CommandLine, botId: string, choice: ManifestChoice, slack: PlatformSetup): number {
  // The tokens that this app will provide are often named already and cannot be set yet.
  const config = loadConfig({ ...settingsArguments(line), isDraft: true });
  const bot = config.bots.find((known) => known.id === botId || known.name.toLowerCase() === botId.toLowerCase());
  if (bot === undefined) {
    throw new ConfigError(
      `There is no bot ${botId}. Known here: ${config.bots.map((known) => known.id).join(", ")}. Add one with: npx parley bot add`,
    );
  }
  if (bot.slack?.personaOf !== undefined) {
    const host = bot.slack.personaOf;
    throw new ConfigError(
      `${bot.id} speaks through the Slack app of ${host}. Its manifest: npx parley manifest ${host}`,
    );
  }
  const request = toRequest(bot, choice, config);
  const manifest = slack.manifest?.(request);
  if (manifest === undefined) throw new ConfigError("This platform has no app descriptions.");
  line.print(manifest.text);
  for (const step of nextSteps(request.botId, request.mode, manifest.link)) line.complain(step);
  return 0;
}

function toRequest(bot: Pick<BotConfig, "id" | "name" | "role" | "slack">, choice: ManifestChoice, config: Config) {
  const mode =
    choice.mode ?? (bot.slack?.signingSecret !== undefined && bot.slack.appToken === undefined ? "http" : "socket");
  const publicUrl = (choice.url ?? config.web.publicUrl ?? "").replace(/\/+$/, "");
  if (mode === "http" && publicUrl === "") {
    throw new ConfigError(
      "HTTP needs the https:// address Slack can reach this server at. Set web.publicUrl, or pass --url.",
    );
  }
  return {
    botId: bot.id,
    name: bot.name,
    role: bot.role,
    mode,
    isDistributed: bot.slack?.clientId !== undefined,
    ...(publicUrl === "" ? {} : { publicUrl }),
  } as const;
}

function nextSteps(botId: string, mode: "socket" | "http", link: string): string[] {
  const token = variableFor(botId, "SLACK_BOT_TOKEN");
  const proof =
    mode === "socket"
      ? `Basic Information → App-Level Tokens: generate one with connections:write, into .env as ${variableFor(botId, "SLACK_APP_TOKEN")}=xapp-…`
      : `Basic Information → Signing Secret, into .env as ${variableFor(botId, "SLACK_SIGNING_SECRET")}=…`;
  return [
    "",
    "1. Open this link, choose the workspace, confirm:",
    link,
    `2. Install App: copy the Bot User OAuth Token into .env as ${token}=xoxb-…`,
    `3. ${proof}`,
    "4. Check with: npx parley doctor",
  ];
}
