/**
 * What operator commands need of Discord before any bot runs: the link that adds a bot to a server, and a check of token, switches in the portal and
 * permissions that names what is missing, and switches on what the API can. Loads Discord's library only when it asks something.
 */

import { z } from "zod";
import { createSystemClock, type Log } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText, toTexts } from "../shared/fields.ts";
import type { DiscordCalls } from "./clients.ts";
import { problemOf, TOKEN_REMEDY } from "./errors.ts";
import { createInvalidRequests } from "./invalid-requests.ts";
import { invitePermissions, missingIn, permissionsIn } from "./permissions.ts";

const settingsSchema = z.object({ token: z.string().min(1) });

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT,
};

/** One thing that was looked at; `fix` says what to do. */
interface DiscordFinding {
  readonly state: "ok" | "warning" | "fault";
  readonly what: string;
  readonly fix?: string;
}

/** A bot as the commands name it. */
interface SetupBot {
  readonly botId: string;
  readonly settings: unknown;
  readonly apiUrl: string;
}

/** Message Content: approved, or switched on for an application in few servers; only the second can be set by the API. */
const CONTENT_APPROVED = 1 << 18;
const CONTENT_SWITCHED_ON = 1 << 19;
const CHECKED_SERVERS = 5;
const FEW_STARTS = 100;
const TEXT_CHANNELS = new Set([0, 5, 15]);

/** Invitation and check for the commands. `check` never throws and answers within the client's time limits. */
export const setup = {
  /** The link that adds the bot to a server with the least permissions; `threads` when its answers open threads. Throws an Error with words for the operator. */
  async invite(bot: SetupBot & { readonly threads: boolean }): Promise<{ readonly link: string }> {
    const token = settingsSchema.safeParse(bot.settings);
    if (!token.success) throw new Error(`${bot.botId} has no Discord token. Set discord.token first.`);
    const appId = await asking(bot.apiUrl, token.data.token, async (calls) => {
      const application = await calls.call("get", "/applications/@me").catch((error: unknown) => {
        throw new Error(problemOf(error).text);
      });
      return toText(toFields(application).id) ?? "";
    });
    const query = new URLSearchParams({
      client_id: appId,
      scope: "bot applications.commands",
      permissions: String(invitePermissions(bot.threads)),
      integration_type: "0",
    });
    return { link: `https://discord.com/oauth2/authorize?${query.toString()}` };
  },

  /** Looks at everything Discord tells about a bot; `fix` switches on Message Content where it is off. */
  async check(
    bot: SetupBot & { readonly fix?: boolean | undefined; readonly receipts?: boolean },
  ): Promise<readonly DiscordFinding[]> {
    const settings = settingsSchema.safeParse(bot.settings);
    if (!settings.success)
      return [{ state: "fault", what: `${bot.botId}: no Discord token`, fix: "Set discord.token." }];
    return asking(bot.apiUrl, settings.data.token, (calls) => checkBot(calls, bot));
  },
};

async function asking<T>(apiUrl: string, token: string, ask: (calls: DiscordCalls) => Promise<T>): Promise<T> {
  const { createCalls } = await import("./clients.ts");
  const calls = createCalls(apiUrl, token, createInvalidRequests(createSystemClock(), SILENT));
  try {
    return await ask(calls);
  } finally {
    calls.close();
  }
}

interface CheckedBot {
  readonly botId: string;
  readonly fix?: boolean | undefined;
  readonly receipts?: boolean;
}

async function checkBot(calls: DiscordCalls, bot: CheckedBot): Promise<readonly DiscordFinding[]> {
  try {
    const [application, user] = await Promise.all([
      calls.call("get", "/applications/@me").then(toFields),
      calls.call("get", "/users/@me").then(toFields),
    ]);
    const known: DiscordFinding = { state: "ok", what: `Discord knows the token: ${toText(user.username) ?? ""}` };
    const parts = await Promise.all([
      checkContent(calls, application, bot.fix === true),
      checkPortal(application),
      checkStarts(calls),
      checkServers(calls, toText(user.id) ?? "", bot),
    ]);
    return [known, ...parts.flat()];
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status === 401)
      return [{ state: "fault", what: "Discord did not accept the token", fix: TOKEN_REMEDY }];
    return [{ state: "fault", what: `Discord did not answer as expected: ${problem.code}`, fix: problem.text }];
  }
}

async function checkContent(
  calls: DiscordCalls,
  application: Fields,
  fix: boolean,
): Promise<readonly DiscordFinding[]> {
  const flags = Number(application.flags ?? 0);
  if ((flags & (CONTENT_APPROVED | CONTENT_SWITCHED_ON)) !== 0) return [{ state: "ok", what: "Message Content is on" }];
  const what =
    "Message Content is off: the bot reads only messages that mention it, replies to it, and direct messages; a Group in which nobody is mentioned stays silent";
  if (!fix) {
    return [
      {
        state: "warning",
        what,
        fix: "Run `npx parley doctor --fix`, or switch it on in the developer portal: Bot > Privileged Gateway Intents > Message Content.",
      },
    ];
  }
  try {
    await calls.call("patch", "/applications/@me", { body: { flags: flags | CONTENT_SWITCHED_ON } });
    return [{ state: "ok", what: "Message Content was off and is on now; restart Parley to use it" }];
  } catch (error) {
    return [{ state: "warning", what, fix: `Discord did not let it be switched on: ${problemOf(error).text}` }];
  }
}

function checkPortal(application: Fields): readonly DiscordFinding[] {
  const found: DiscordFinding[] = [];
  const endpoint = toText(application.interactions_endpoint_url);
  if (endpoint !== undefined) {
    found.push({
      state: "fault",
      what: "The application has an Interactions Endpoint URL, so clicks on buttons never reach Parley",
      fix: "Remove it in the developer portal: General Information > Interactions Endpoint URL.",
    });
  }
  if (application.bot_require_code_grant === true) {
    found.push({
      state: "fault",
      what: "The application requires a code grant, so the invite link does not work",
      fix: "Switch off Bot > Requires OAuth2 Code Grant in the developer portal.",
    });
  }
  if (application.bot_public === true) {
    found.push({
      state: "warning",
      what: "Anybody can add this bot to their server",
      fix: "Switch off Bot > Public Bot in the developer portal, unless that is meant (set Installation > Install Link to None first).",
    });
  }
  return found;
}

async function checkStarts(calls: DiscordCalls): Promise<readonly DiscordFinding[]> {
  const limit = toFields(toFields(await calls.call("get", "/gateway/bot")).session_start_limit);
  const remaining = Number(limit.remaining ?? 0);
  const what = `${remaining} of ${Number(limit.total ?? 0)} connection starts are left today`;
  if (remaining >= FEW_STARTS) return [{ state: "ok", what }];
  return [
    {
      state: "warning",
      what,
      fix: "Something starts this bot over and over; Discord resets its token when none are left. Stop it and look at the log.",
    },
  ];
}

async function checkServers(calls: DiscordCalls, userId: string, bot: CheckedBot): Promise<readonly DiscordFinding[]> {
  const guilds = toList(await calls.call("get", "/users/@me/guilds", { query: { limit: "200" } }));
  if (guilds.length === 0) {
    return [
      {
        state: "fault",
        what: "The bot is on no server",
        fix: `Add it with the link from: npx parley invite ${bot.botId}`,
      },
    ];
  }
  const found = await Promise.all(
    guilds.slice(0, CHECKED_SERVERS).map((guild) => checkServer(calls, userId, guild, bot.receipts === true)),
  );
  const rest = guilds.length - CHECKED_SERVERS;
  return rest > 0 ? [...found, { state: "ok", what: `${rest} more servers were not looked at` }] : found;
}

async function checkServer(
  calls: DiscordCalls,
  userId: string,
  { id, name }: Fields,
  receipts: boolean,
): Promise<DiscordFinding> {
  const path = `/guilds/${toText(id) ?? ""}`;
  try {
    const [guild, channels, member] = await Promise.all([
      calls.call("get", path).then(toFields),
      calls.call("get", `${path}/channels`).then(toList),
      calls.call("get", `${path}/members/${userId}`).then(toFields),
    ]);
    const roles = toTexts(member.roles);
    const texts = channels.filter((channel) => TEXT_CHANNELS.has(Number(channel.type)));
    const lacking = texts.flatMap((channel) => {
      const missing = missingIn(permissionsIn(guild, channel, userId, roles));
      // A channel that the bot does not see at all is somebody's choice.
      return missing.length === 0 || missing.includes("View Channels")
        ? []
        : [`#${toText(channel.name) ?? ""} (${missing.join(", ")})`];
    });
    const seen = texts.filter(
      (channel) => !missingIn(permissionsIn(guild, channel, userId, roles)).includes("View Channels"),
    );
    const what = `server ${toText(name) ?? ""}: the bot sees ${seen.length} of ${texts.length} text channels`;
    if (seen.length === 0)
      return {
        state: "fault",
        what,
        fix: "Give the bot's role View Channels and Send Messages in the channels it is for.",
      };
    if (lacking.length === 0) return { state: "ok", what };
    return {
      state: "warning",
      what: `${what}; it lacks permissions in ${lacking.slice(0, 8).join(", ")}`,
      fix: `Give them to the bot's role in the server's or the channel's settings.${
        receipts && lacking.some((one) => one.includes("Add Reactions"))
          ? " Without Add Reactions the receipts of discord.receipts are not shown."
          : ""
      }`,
    };
  } catch (error) {
    return {
      state: "warning",
      what: `server ${toText(name) ?? ""}: permissions could not be read (${problemOf(error).code})`,
    };
  }
}
