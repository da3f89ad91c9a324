/**
 * `conversations.*` and `users.conversations`: finding, opening, joining and reading conversations.
 * Invariant: history is newest first and holds no thread replies; replies are oldest first and start with the root;
 * metadata is only shown when asked for.
 */
import type { Fields } from "../../loopback.ts";
import { asText } from "../../loopback.ts";
import type { Call, Method } from "../call.ts";
import {
  directChannel,
  findChannel,
  isTrue,
  memberChannel,
  paginate,
  READ_SCOPES,
  requireArguments,
  requireKindScope,
} from "../call.ts";
import { joinChannel } from "../events.ts";
import { copyBody } from "../messages.ts";
import type { App, Channel, StoredMessage } from "../model.ts";
import { refuse } from "../refusal.ts";
import { compareTs, findMessage } from "../workspace.ts";

const HISTORY_SCOPES = ["channels:history", "groups:history", "im:history", "mpim:history"];
const KINDS: Readonly<Record<string, Channel["kind"]>> = {
  public_channel: "channel",
  private_channel: "group",
  im: "im",
  mpim: "mpim",
};

/** The methods of this family. */
export const CONVERSATION_METHODS: Readonly<Record<string, Method>> = {
  "conversations.info": { scopes: READ_SCOPES, run: (call) => ({ channel: describe(readable(call), call.app) }) },
  "conversations.list": { scopes: READ_SCOPES, run: list },
  "users.conversations": { scopes: READ_SCOPES, run: listOf },
  "conversations.members": {
    scopes: READ_SCOPES,
    run: (call) => paginate([...readable(call).members], call.args, "members", 100),
  },
  "conversations.open": { scopes: ["im:write", "mpim:write", "channels:manage"], run: open },
  "conversations.join": { scopes: ["channels:join"], run: join },
  "conversations.history": { scopes: HISTORY_SCOPES, run: history },
  "conversations.replies": { scopes: HISTORY_SCOPES, run: replies },
};

function readable(call: Call): Channel {
  const channel = findChannel(call, call.args.channel);
  requireKindScope(call.app, channel, "read");
  return channel;
}

/** A conversation as the API describes it to this app. */
function describe(channel: Channel, app: App): Fields {
  const direct = channel.kind === "im";
  return {
    id: channel.id,
    ...(direct
      ? { user: [...channel.members].find((id) => id !== app.userId) }
      : { name: channel.name, name_normalized: channel.name }),
    is_channel: channel.kind === "channel",
    is_group: channel.kind === "group",
    is_im: direct,
    is_mpim: channel.kind === "mpim",
    is_private: channel.kind !== "channel",
    is_archived: channel.archived,
    is_general: false,
    is_shared: false,
    is_ext_shared: false,
    is_org_shared: false,
    is_member: channel.members.has(app.userId),
    num_members: channel.members.size,
    created: channel.createdAt,
    context_team_id: channel.team.id,
    topic: { value: "", creator: "", last_set: 0 },
    purpose: { value: "", creator: "", last_set: 0 },
  };
}

function ofKinds(call: Call): Channel[] {
  const types = (asText(call.args.types) || "public_channel")
    .split(",")
    .map((type) => KINDS[type.trim()] ?? refuse("invalid_types"));
  const all = [...call.workspace.channels.values()].filter(
    (channel) => channel.team === call.app.team && types.includes(channel.kind),
  );
  return isTrue(call.args.exclude_archived) ? all.filter((channel) => !channel.archived) : all;
}

function list(call: Call): Fields {
  const seen = ofKinds(call).filter((channel) => channel.kind === "channel" || channel.members.has(call.app.userId));
  return paginate(
    seen.map((channel) => describe(channel, call.app)),
    call.args,
    "channels",
    100,
  );
}

function listOf(call: Call): Fields {
  const user = asText(call.args.user) || call.app.userId;
  if (!call.workspace.users.has(user)) refuse("user_not_found");
  const shared = ofKinds(call).filter(
    (channel) => channel.members.has(user) && (channel.kind === "channel" || channel.members.has(call.app.userId)),
  );
  return paginate(
    shared.map((channel) => describe(channel, call.app)),
    call.args,
    "channels",
    100,
  );
}

function open(call: Call): Fields {
  if (call.args.channel) return { channel: { id: memberChannel(call, call.args.channel).id } };
  const ids = asText(call.args.users)
    .split(",")
    .filter((id) => id !== "");
  if (ids.length === 0) refuse("users_list_not_supplied");
  const users = ids.map((id) => call.workspace.users.get(id) ?? refuse("user_not_found"));
  const [user, ...others] = users;
  if (!user || others.length > 0) return refuse("not_enough_users");
  const channel = directChannel(call, user);
  return { channel: isTrue(call.args.return_im) ? describe(channel, call.app) : { id: channel.id } };
}

function join(call: Call): Fields {
  const channel = findChannel(call, call.args.channel);
  if (channel.kind !== "channel") refuse("method_not_supported_for_channel_type");
  if (channel.archived) refuse("is_archived");
  joinChannel(call.workspace, channel, call.app.user, null);
  return { channel: describe(channel, call.app) };
}

function history(call: Call): Fields {
  const channel = memberChannel(call, call.args.channel);
  requireKindScope(call.app, channel, "history");
  const top = channel.messages.filter(
    ({ deleted, body }) =>
      !deleted && (!body.thread_ts || body.thread_ts === body.ts || body.subtype === "thread_broadcast"),
  );
  const found = inRange(top, call.args).sort((a, b) => compareTs(b.body.ts, a.body.ts));
  return paginate(
    found.map((message) => copyBody(message, isTrue(call.args.include_all_metadata))),
    call.args,
    "messages",
    100,
  );
}

function replies(call: Call): Fields {
  requireArguments(call.args, "ts");
  const channel = memberChannel(call, call.args.channel);
  requireKindScope(call.app, channel, "history");
  const asked = findMessage(channel, asText(call.args.ts)) ?? refuse("thread_not_found");
  const rootTs = asked.body.thread_ts ?? asked.body.ts;
  const thread = channel.messages.filter(
    (message) => !message.deleted && message.body.thread_ts === rootTs && message.body.ts !== rootTs,
  );
  const root = findMessage(channel, rootTs);
  if (!root || (root.deleted && thread.length === 0)) refuse("thread_not_found");
  const found = inRange(thread, call.args).sort((a, b) => compareTs(a.body.ts, b.body.ts));
  const all = root && !root.deleted ? [root, ...found] : found;
  return paginate(
    all.map((message) => copyBody(message, isTrue(call.args.include_all_metadata))),
    call.args,
    "messages",
    1000,
  );
}

function inRange(messages: readonly StoredMessage[], args: Fields): StoredMessage[] {
  const { oldest, latest } = args;
  const inclusive = isTrue(args.inclusive);
  for (const bound of [oldest, latest])
    if (bound !== undefined && !/^\d+(\.\d+)?$/.test(String(bound))) refuse("invalid_ts_oldest");
  return messages.filter(({ body }) => {
    const after = oldest === undefined ? 1 : compareTs(body.ts, String(oldest));
    const before = latest === undefined ? -1 : compareTs(body.ts, String(latest));
    return (after > 0 || (inclusive && after === 0)) && (before < 0 || (inclusive && before === 0));
  });
}
