/** One Discord event, one InboundEvent: tables of raw payloads. */

import { expect, test } from "vitest";
import {
  conversationOf,
  dateOfId,
  idAt,
  type Knowledge,
  ROLE_HINT,
  toMessage,
  toReaction,
} from "../../src/adapters/discord/inbound.ts";
import { isWithheld, kindOf } from "../../src/adapters/discord/inbound-kind.ts";
import { type Names, readText, typedMentions } from "../../src/adapters/discord/inbound-text.ts";

const BOT = "100000000000000001";
const ALICE = "200000000000000001";
const ROLE = "300000000000000001";
const NAMES: Names = {
  user: (id) => (id === BOT ? "Ada" : undefined),
  role: (id) => (id === ROLE ? { name: "Ada", botUserId: BOT } : undefined),
  channel: (id) => (id === "400000000000000001" ? "general" : undefined),
};
const self = { appId: BOT, botUserId: BOT, readsContent: true };
const message = (more: object = {}) => ({
  id: "500000000000000001",
  channel_id: "400000000000000001",
  guild_id: "600000000000000001",
  type: 0,
  content: "hi",
  author: { id: ALICE, username: "alice", global_name: "Alice" },
  member: { nick: "Al" },
  mentions: [],
  mention_roles: [],
  attachments: [],
  ...more,
});
const knowledge = (more: Partial<Knowledge> = {}): Knowledge => ({
  self,
  installationId: "i1",
  conversation: conversationOf("600000000000000001", "400000000000000001", {
    id: "400000000000000001",
    type: 0,
    name: "general",
  }),
  names: NAMES,
  ...more,
});
const clean = (content: string, more: object = {}) => readText(message({ content, ...more }), NAMES);

test.each([
  ["a mention", `<@${BOT}> hi`, "@Ada hi"],
  ["the old form of a mention", `<@!${BOT}> hi`, "@Ada hi"],
  ["a role", `<@&${ROLE}> hi`, "@Ada hi"],
  ["a channel", "see <#400000000000000001>", "see #general"],
  ["an emoji of the server", "<:party:700000000000000001> <a:dance:700000000000000001>", ":party: :dance:"],
  ["a time", "at <t:1700000000:R>", "at 2023-11-14 22:13:20.000Z"],
  ["a command", "</help:700000000000000001>", "/help"],
  ["an escaped token", `\\<@${BOT}> hi`, `\\<@${BOT}> hi`],
  ["a token in code", `\`<@${BOT}>\``, `\`<@${BOT}>\``],
  ["a person known from the message", `<@${ALICE}> hi`, "@Al hi"],
])("%s is decoded", (_title, content, expected) => {
  const mentions = [{ id: ALICE, username: "alice", member: { nick: "Al" } }];
  expect(clean(content, { mentions }).text).toBe(expected);
});

test("mentions know where they stand after decoding", () => {
  const { text, mentions } = clean(`<#400000000000000001> <@${BOT}> and <@&${ROLE}>`);
  expect(mentions.map(({ start, end }) => text.slice(start, end))).toEqual(["@Ada", "@Ada"]);
  expect(mentions[1]?.members).toEqual([BOT]);
});

test("code and quoted lines are marked at the right place after decoding", () => {
  const { text, quoted } = clean(`<@${BOT}> \`code\`\n> a quote\nrest`);
  expect(quoted.map(({ start, end }) => text.slice(start, end))).toEqual(["`code`", "> a quote"]);
});

test.each([
  ["said by Discord", { mention_everyone: true, content: "hi" }, true],
  ["typed without the right to", { content: "@everyone lunch" }, true],
  ["@here too", { content: "lunch, @here?" }, true],
  ["in code", { content: "`@everyone`" }, false],
  ["in a quotation", { content: "> @everyone\nno" }, false],
  ["in an address", { content: "me@here.example" }, false],
])("a mass ping %s", (_title, fields, expected) => {
  expect(readText(message(fields), NAMES).everyone).toBe(expected);
});

test("only typed mentions outside code count as typed", () => {
  expect(typedMentions({ content: `<@${BOT}> \`<@${ALICE}>\` \\<@${ALICE}>` })).toEqual([BOT]);
});

test("a person's reply is for the account it answers, a bot's reply for nobody", () => {
  const replied = { author: { id: BOT } };
  const fields = { type: 19, mentions: [{ id: BOT }], referenced_message: replied };
  const person = toMessage(message(fields), knowledge({ replied }));
  const bot = toMessage(
    message({ ...fields, author: { id: ALICE, username: "other", bot: true } }),
    knowledge({ replied }),
  );
  const hook = toMessage(message({ ...fields, webhook_id: "1" }), knowledge({ replied }));
  expect([person?.answersAccount, bot?.answersAccount, hook?.answersAccount]).toEqual([BOT, undefined, undefined]);
  expect([person?.namesBot, bot?.namesBot, hook?.namesBot]).toEqual([false, false, false]);
  expect([person?.from.kind, bot?.from.kind, hook?.from.kind]).toEqual(["member", "bot", "bot"]);
});

test.each<[string, object, string | undefined]>([
  ["the ping, where Discord does not tell the message", { mentions: [{ id: BOT }] }, BOT],
  [
    "the ping beside somebody who is written out",
    { content: `ask <@${ALICE}>`, mentions: [{ id: ALICE }, { id: BOT }] },
    BOT,
  ],
  [
    "nothing, when all who are mentioned are written out",
    { content: `<@!${BOT}> hi`, mentions: [{ id: BOT }] },
    undefined,
  ],
  ["nothing, when no reply was pinged", { mentions: [] }, undefined],
  ["nothing, in a message that is no reply", { type: 0, mentions: [{ id: BOT }] }, undefined],
])("whom a reply answers is told by %s", (_title, fields, expected) => {
  expect(toMessage(message({ type: 19, ...fields }), knowledge())?.answersAccount).toBe(expected);
});

test("a reply to one bot of ours reads the same in the copies of all of them", () => {
  const bo = "100000000000000002";
  const names: Names = { ...NAMES, user: (id) => ({ [BOT]: "Ada", [bo]: "Bo" })[id] };
  const replied = { content: "what Bo said", author: { id: bo, username: "bo", bot: true } };
  const copies = (content: string) =>
    [BOT, bo].map((botUserId) => {
      const known = knowledge({ names, replied, self: { ...self, botUserId } });
      return toMessage(message({ type: 19, content, mentions: [{ id: bo }] }), known);
    });
  for (const content of ["and then?", `<@${BOT}> is that so?`]) {
    const [atAda, atBo] = copies(content);
    expect([atAda?.text, atAda?.answersAccount]).toEqual([atBo?.text, bo]);
    expect(atBo?.answersAccount).toBe(bo);
  }
  expect(copies("and then?")[0]?.text).toBe("and then?");
  expect(copies(`<@${BOT}> is that so?`)[1]?.text).toContain("> what Bo said");
});

test("a command in a reply stays alone, so that it is recognised", () => {
  const replied = { content: "something long", author: { id: ALICE, username: "alice" } };
  const said = (content: string) => toMessage(message({ type: 19, content }), knowledge({ replied }))?.text;
  expect(said(`<@${BOT}> stop`)).toBe("@Ada stop");
  expect(said("!stop")).toBe("!stop");
  expect(said("what is that thing")).toContain("[In reply to alice]\n> something long");
});

test("what a reply quotes and a forward holds names nobody", () => {
  const replied = { content: `<@${BOT}> @everyone`, author: { id: ALICE, username: "alice" }, mention_everyone: true };
  const event = toMessage(message({ type: 19, content: "what does it want" }), knowledge({ replied }));
  expect(event).toMatchObject({ namesBot: false, mentions: [], everyone: false });
});

test("a message whose words are withheld is recognised, others are not", () => {
  const deaf = { ...self, readsContent: false };
  expect(isWithheld(message({ content: "" }), deaf)).toBe(true);
  expect(isWithheld(message({ content: "" }), self)).toBe(false);
  expect(isWithheld(message({ content: "", guild_id: undefined }), deaf)).toBe(false);
  expect(isWithheld(message({ content: "", attachments: [{ id: "1" }] }), deaf)).toBe(false);
  expect(toMessage(message({ content: "", mention_roles: [ROLE] }), knowledge({ self: deaf }))?.text).toBe(ROLE_HINT);
});

test.each([
  ["a message", "MESSAGE_CREATE", message(), "message"],
  ["a reply", "MESSAGE_CREATE", message({ type: 19 }), "message"],
  ["a new thread's notice", "MESSAGE_CREATE", message({ type: 18 }), "ignored"],
  ["a pin's notice", "MESSAGE_CREATE", message({ type: 6 }), "ignored"],
  ["our own post", "MESSAGE_CREATE", message({ author: { id: BOT, bot: true } }), "echo"],
  ["Discord's own account", "MESSAGE_CREATE", message({ author: { id: "9", system: true } }), "ignored"],
  ["a preview", "MESSAGE_UPDATE", message({ edited_timestamp: null }), "ignored"],
  ["an edit", "MESSAGE_UPDATE", message({ edited_timestamp: "2026-01-01T00:00:00Z" }), "edit"],
  ["half an update", "MESSAGE_UPDATE", { id: "1", channel_id: "2", embeds: [] }, "ignored"],
  ["our own reaction", "MESSAGE_REACTION_ADD", { user_id: BOT }, "ignored"],
  ["somebody typing", "TYPING_START", {}, "ignored"],
])("%s is %s", (_title, event, data, expected) => {
  expect(kindOf(event, data, (id) => id === BOT)).toBe(expected);
});

test("places: direct, channel, thread, and a thread whose parent is not known", () => {
  expect(conversationOf(undefined, "1", undefined)).toMatchObject({
    kind: "direct",
    workspaceId: "@me",
    channelId: "1",
  });
  expect(conversationOf("g", "1", { id: "1", type: 0, name: "c" })).toMatchObject({
    kind: "channel",
    channelName: "c",
  });
  expect(conversationOf("g", "2", { id: "2", type: 11, parentId: "1" })).toMatchObject({
    kind: "thread",
    channelId: "1",
    threadId: "2",
  });
  expect(conversationOf("g", "2", { id: "2", type: 11 })).toMatchObject({ kind: "channel", channelId: "2" });
});

test("ids are times, and times are ids", () => {
  const now = Date.UTC(2026, 10, 3, 12);
  expect(dateOfId(idAt(now)).getTime()).toBe(now);
  expect(idAt(0)).toBe("0");
});

test("a reaction that another bot's copy reports has the same key", () => {
  const data = { user_id: ALICE, channel_id: "1", message_id: "2", emoji: { id: null, name: "👍" } };
  const first = toReaction("MESSAGE_REACTION_ADD", data, knowledge(), new Date(1));
  const second = toReaction("MESSAGE_REACTION_ADD", data, knowledge({ installationId: "i2" }), new Date(9));
  expect(first?.dedupeKey).toBe(second?.dedupeKey);
  expect(toReaction("MESSAGE_REACTION_REMOVE", data, knowledge(), new Date(1))?.dedupeKey).not.toBe(first?.dedupeKey);
});
