/**
 * The application itself and its commands over REST.
 */
import type { Fields } from "../../loopback.ts";
import { asFields, asList, asText } from "../../loopback.ts";
import type { Answer, BotCall, Routes } from "../call.ts";
import { forBots, idAt, ownGuild } from "../call.ts";
import { checkCommand, checkCommandList } from "../command-rules.ts";
import { applicationFlags } from "../identify.ts";
import type { Bot } from "../model.ts";
import { refuse, refuseField } from "../refusal.ts";
import { userJson } from "../wire.ts";
import { newId } from "../world.ts";

const DAILY_CREATES = 200;
/** Flags a bot may set by itself: presences, members and content, each in its limited form. */
const SETTABLE_FLAGS = (1 << 13) | (1 << 15) | (1 << 19);

/** The application routes. */
export const APPLICATION_ROUTES: Routes = {
  "GET /applications/@me": forBots((call) => ({ json: applicationJson(call.bot) })),
  "GET /oauth2/applications/@me": forBots((call) => ({ json: applicationJson(call.bot) })),
  "PATCH /applications/@me": forBots(changeApplication),
  ...commandRoutes("/applications/:id", () => ""),
  ...commandRoutes("/applications/:id/guilds/:id", (call) => ownGuild(call, idAt(call, 1)).id),
};

function applicationJson(bot: Bot): Fields {
  return {
    id: bot.applicationId,
    name: bot.name,
    icon: null,
    description: bot.description,
    summary: "",
    type: null,
    bot: userJson(bot.user),
    bot_public: false,
    bot_require_code_grant: false,
    verify_key: "0".repeat(64),
    flags: applicationFlags(bot),
    flags_new: String(applicationFlags(bot)),
    owner: userJson(bot.user),
    team: null,
    explicit_content_filter: 0,
    eligible_oauth2_scopes: [],
    approximate_user_authorization_count: 0,
    hook: true,
    interactions_endpoint_url: bot.interactionsEndpointUrl,
    role_connections_verification_url: null,
    redirect_uris: [],
    integration_types_config: { 0: {} },
    approximate_guild_count: 1,
    approximate_user_install_count: 0,
    ...bot.settings,
  };
}

function changeApplication({ bot, body }: BotCall): Answer {
  if (body.flags !== undefined) {
    const flags = Number(body.flags);
    if (flags & ~SETTABLE_FLAGS)
      refuseField("flags", "APPLICATION_FLAGS_INVALID", "Only limited intent flags may be set");
    bot.messageContent = (flags & (1 << 19)) !== 0;
    bot.guildMembers = (flags & (1 << 15)) !== 0;
    bot.presences = (flags & (1 << 13)) !== 0;
  }
  if (body.interactions_endpoint_url !== undefined)
    bot.interactionsEndpointUrl = asText(body.interactions_endpoint_url) || null;
  if (typeof body.description === "string") bot.description = body.description;
  for (const name of ["install_params", "integration_types_config", "custom_install_url", "tags"]) {
    if (body[name] !== undefined) bot.settings[name] = body[name];
  }
  return { json: applicationJson(bot) };
}

function commandRoutes(base: string, placeOf: (call: BotCall) => string): Routes {
  const one = base.includes("guilds") ? 2 : 1;
  return {
    [`GET ${base}/commands`]: forBots((call) => ({ json: commandsOf(call, placeOf(call)) })),
    [`PUT ${base}/commands`]: forBots((call) => overwrite(call, placeOf(call))),
    [`POST ${base}/commands`]: forBots((call) => upsert(call, placeOf(call))),
    [`GET ${base}/commands/:id`]: forBots((call) => ({ json: commandOf(call, placeOf(call), idAt(call, one)) })),
    [`PATCH ${base}/commands/:id`]: forBots((call) => {
      const command = commandOf(call, placeOf(call), idAt(call, one));
      checkCommand({ ...command, ...call.body });
      return { json: Object.assign(command, call.body, { version: newId(call.world) }) };
    }),
    [`DELETE ${base}/commands/:id`]: forBots((call) => {
      const command = commandOf(call, placeOf(call), idAt(call, one));
      const kept = commandsOf(call, placeOf(call)).filter((other) => other !== command);
      call.bot.commands.set(placeOf(call), kept);
      return {};
    }),
  };
}

function commandsOf(call: BotCall, place: string): Fields[] {
  if (idAt(call, 0) !== call.bot.applicationId)
    refuse(403, 20012, "You are not authorized to perform this action on this application");
  const commands = call.bot.commands.get(place) ?? [];
  call.bot.commands.set(place, commands);
  return commands;
}

function commandOf(call: BotCall, place: string, id: string): Fields {
  const found = commandsOf(call, place).find((command) => command.id === id);
  return found ?? refuse(404, 10063, "Unknown application command");
}

/** Counts new commands: 200 a day for each place. */
function countCreate(call: BotCall, place: string): void {
  const count = (call.bot.commandCreates.get(place) ?? 0) + 1;
  if (count > DAILY_CREATES)
    refuse(400, 30034, "Max number of daily application command creates has been reached (200)");
  call.bot.commandCreates.set(place, count);
}

function stored(call: BotCall, place: string, command: Fields, before: Fields | undefined): Fields {
  if (!before) countCreate(call, place);
  return {
    type: 1,
    default_member_permissions: null,
    nsfw: false,
    ...command,
    id: before?.id ?? newId(call.world),
    application_id: call.bot.applicationId,
    version: newId(call.world),
    ...(place === "" ? {} : { guild_id: place }),
  };
}

function same(left: Fields, right: Fields): boolean {
  return left.name === right.name && (left.type ?? 1) === (right.type ?? 1);
}

function overwrite(call: BotCall, place: string): Answer {
  const before = commandsOf(call, place);
  const wanted = asList(call.body.list).map(asFields);
  checkCommandList(wanted);
  const now = wanted.map((command) =>
    stored(
      call,
      place,
      command,
      before.find((known) => same(known, command)),
    ),
  );
  call.bot.commands.set(place, now);
  return { json: now };
}

function upsert(call: BotCall, place: string): Answer {
  const commands = commandsOf(call, place);
  checkCommand(call.body);
  const before = commands.find((known) => same(known, call.body));
  checkCommandList([...commands.filter((known) => known !== before), call.body]);
  const command = stored(call, place, call.body, before);
  call.bot.commands.set(place, [...commands.filter((known) => known !== before), command]);
  return { status: before ? 200 : 201, json: command };
}
