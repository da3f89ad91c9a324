/** Which channels a bot sees, from what the gateway tells and from what is asked for. */

import { expect, test } from "vitest";
import { createPresence, type Presence } from "../../src/adapters/discord/presence.ts";
import type { Fields } from "../../src/adapters/shared/fields.ts";

const VIEW = String(1n << 10n);
const SEND = String(1n << 11n);
const overwrite = (id: string, side: "allow" | "deny") => ({ id, type: 0, allow: "0", deny: "0", [side]: VIEW });
const OPEN = { id: "open", type: 0, guild_id: "g", permission_overwrites: [] };
const CLOSED = { id: "closed", type: 0, guild_id: "g", permission_overwrites: [overwrite("g", "deny")] };
const STAFF = {
  ...{ id: "staff", type: 5, guild_id: "g" },
  permission_overwrites: [overwrite("g", "deny"), overwrite("r-staff", "allow")],
};
const CATEGORY = { id: "category", type: 4, guild_id: "g", permission_overwrites: [] };
const role = (id: string, permissions: string) => ({ id, permissions });
const member = (...roles: string[]) => ({ user: { id: "me" }, roles });
const SERVER = {
  ...{ id: "g", owner_id: "somebody", channels: [OPEN, CLOSED, STAFF, CATEGORY], members: [member()] },
  roles: [role("g", VIEW), role("r-staff", SEND)],
};

/** A presence, what it told, and what Discord answers when it is asked. */
function opened(server: () => typeof SERVER = () => SERVER) {
  const told: string[] = [];
  const asked: string[] = [];
  const presence = createPresence({
    botUserId: "me",
    onChange: (change, guildId, channelId) => void told.push(`${change} ${guildId}/${channelId}`),
    calls: {
      async call(_method, path) {
        asked.push(path);
        if (path.endsWith("/channels")) return server().channels;
        return path.includes("/members/") ? server().members[0] : server();
      },
    },
  });
  presence.follow();
  return { presence, told, asked };
}

/** A session that began with the server's announcement. */
function listening(server?: () => typeof SERVER) {
  const all = opened(server);
  all.presence.note("READY", { guilds: [{ id: "g", unavailable: true }] });
  all.presence.note("GUILD_CREATE", SERVER);
  return all;
}

const seen = async (presence: Presence) => [...(await presence.channels("g"))].sort();

test("the server's announcement says it, without a question; what is there when a session begins is not told", async () => {
  const { presence, told, asked } = listening();
  expect([await seen(presence), told, asked]).toEqual([["open"], [], []]);
});

test("without an announcement it is asked for once, several askers or not", async () => {
  const { presence, asked } = opened();
  expect(await Promise.all([seen(presence), seen(presence)])).toEqual([["open"], ["open"]]);
  expect(await seen(presence)).toEqual(["open"]);
  expect([...asked].sort()).toEqual(["/guilds/g", "/guilds/g/channels", "/guilds/g/members/me"]);
});

test("a process that only sends keeps no answer, because no event would correct it", async () => {
  let channels = SERVER.channels;
  const presence = createPresence({
    botUserId: "me",
    onChange: () => undefined,
    calls: {
      call: async (_method, path) =>
        path.endsWith("/channels") ? channels : path.includes("/members/") ? member() : SERVER,
    },
  });
  expect(await seen(presence)).toEqual(["open"]);
  channels = [];
  expect(await seen(presence)).toEqual([]);
});

test.each<[string, string, Fields, readonly string[], readonly string[]]>([
  ["a new channel", "CHANNEL_CREATE", { ...OPEN, id: "new" }, ["joined g/new"], ["new", "open"]],
  ["a new category", "CHANNEL_CREATE", { ...CATEGORY, id: "new" }, [], ["open"]],
  ["a channel that is hidden", "CHANNEL_UPDATE", { ...CLOSED, id: "open" }, ["left g/open"], []],
  ["a channel that is opened", "CHANNEL_UPDATE", { ...OPEN, id: "closed" }, ["joined g/closed"], ["closed", "open"]],
  ["a channel that only gets a new name", "CHANNEL_UPDATE", { ...OPEN, name: "x" }, [], ["open"]],
  ["a channel that is deleted", "CHANNEL_DELETE", OPEN, ["left g/open"], []],
  ["leaving the server", "GUILD_DELETE", { id: "g" }, ["left g/open"], ["open"]],
  ["a server that is down", "GUILD_DELETE", { id: "g", unavailable: true }, [], ["open"]],
  ["a session in which the server is missing", "READY", { guilds: [] }, ["left g/open"], ["open"]],
  ["a server announced again, changed", "GUILD_CREATE", { ...SERVER, channels: [STAFF] }, ["left g/open"], []],
  ["another server's channel", "CHANNEL_CREATE", { ...OPEN, id: "x", guild_id: "other" }, [], ["open"]],
])("%s", async (_title, event, data, told, after) => {
  const all = listening();
  all.presence.note(event, data);
  expect([all.told, await seen(all.presence)]).toEqual([told, after]);
});

test("a server that is new to the bot while it listens is told of", () => {
  const { presence, told } = listening();
  presence.note("GUILD_CREATE", { ...SERVER, id: "g2", roles: [role("g2", VIEW)] });
  expect(told).toEqual(["joined g2/open", "joined g2/closed", "joined g2/staff"]);
});

test.each<[string, string, object, Partial<typeof SERVER>, readonly string[]]>([
  [
    "a role it is given",
    "GUILD_MEMBER_UPDATE",
    { user: { id: "me" } },
    { members: [member("r-staff")] },
    ["joined g/staff"],
  ],
  ["somebody else's role", "GUILD_MEMBER_UPDATE", { user: { id: "x" } }, { members: [member("r-staff")] }, []],
  ["what everybody may", "GUILD_ROLE_UPDATE", { role: { id: "g" } }, { roles: [role("g", SEND)] }, ["left g/open"]],
  ["what a role may that it does not have", "GUILD_ROLE_UPDATE", { role: { id: "r-x" } }, { roles: [] }, []],
  ["becoming the owner", "GUILD_UPDATE", { owner_id: "me" }, { owner_id: "me" }, ["joined g/closed", "joined g/staff"]],
])("%s is looked up when it may matter", async (_title, event, data, changed, expected) => {
  let server = SERVER;
  const { presence, told } = listening(() => server);
  server = { ...SERVER, ...changed };
  presence.note(event, event === "GUILD_UPDATE" ? { id: "g", ...data } : { guild_id: "g", ...data });
  await expect.poll(() => told, { timeout: 2000 }).toEqual(expected);
});

test("an answer that an event overtook is asked for anew", async () => {
  let channels = [CLOSED];
  let asks = 0;
  const presence = createPresence({
    botUserId: "me",
    onChange: () => undefined,
    calls: {
      async call(_method, path) {
        if (path.includes("/members/")) return member();
        if (!path.endsWith("/channels")) return SERVER;
        asks += 1;
        const answer = channels;
        if (asks === 1) {
          channels = [OPEN];
          presence.note("CHANNEL_UPDATE", OPEN);
        }
        return answer;
      },
    },
  });
  presence.follow();
  expect([await seen(presence), asks]).toEqual([["open"], 2]);
});
