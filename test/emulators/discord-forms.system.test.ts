/**
 * Forms Discord refuses must be refused here at the same place, through the real REST client, and must change nothing.
 * Each row is the smallest message or modal that breaks one rule.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bot, Channel, Discord } from "./discord/index.ts";
import { startDiscord } from "./discord/index.ts";
import { checkModalForm } from "./discord/modal-rules.ts";
import { refusalOf, restOf } from "./discord-clients.ts";

type Json = Record<string, unknown>;

let discord: Discord;
let ada: Bot;
let general: Channel;

beforeAll(async () => {
  discord = await startDiscord({
    limits: { message: { limit: 1000, windowMs: 1000 }, global: { limit: 1000, windowMs: 1000 } },
  });
  ada = discord.addBot({ name: "Ada" });
  general = discord.addChannel("general");
});
afterAll(() => discord.close());

const send = (body: Json) => restOf(discord, ada).post(`/channels/${general.id}/messages`, { body });

const many = (count: number, item: unknown = {}) => Array.from({ length: count }, () => item);
const button = (more: Json = {}) => ({ type: 2, style: 1, label: "B", custom_id: `b${Math.random()}`, ...more });
const row = (...components: Json[]) => ({ type: 1, components });
const option = (value: string, more: Json = {}) => ({ label: value, value, ...more });
const select = (more: Json = {}) => ({ type: 3, custom_id: "s", options: [option("a")], ...more });
const text = (content: string) => ({ type: 10, content });
const gallery = (count: number, more: Json = {}) => ({
  type: 12,
  items: many(count, { media: { url: "https://example.com/a.png" }, ...more }),
});
const v2 = (...components: Json[]) => ({ flags: 32_768, components });
const legacy = (...components: Json[]) => ({ content: "x", components });

const ROWS: [name: string, body: Json, place: string][] = [
  ["content of 2001 characters", { content: "x".repeat(2001) }, "content"],
  ["content that is no text", { content: 5 }, "content"],
  ["flags that are not allowed", { content: "x", flags: 64 }, "flags"],
  ["a nonce of 26 characters", { content: "x", nonce: "n".repeat(26) }, "nonce"],
  ["enforce_nonce without a nonce", { content: "x", enforce_nonce: true }, "nonce"],
  ["an unknown kind in parse", { content: "x", allowed_mentions: { parse: ["all"] } }, "allowed_mentions"],
  [
    "parse and ids of one kind",
    { content: "x", allowed_mentions: { parse: ["users"], users: ["123456789012345678"] } },
    "mutually exclusive",
  ],
  [
    "101 allowed users",
    { content: "x", allowed_mentions: { users: many(101).map((_, index) => `1234567890123456${index + 10}`) } },
    "allowed_mentions",
  ],
  ["an allowed user that is no id", { content: "x", allowed_mentions: { users: ["alice"] } }, "snowflake"],
  ["a reply to nothing", { content: "x", message_reference: { message_id: "123456789012345678" } }, "Unknown message"],
  ["11 embeds", { embeds: many(11, { title: "x" }) }, "embeds"],
  ["an embed title of 257", { embeds: [{ title: "x".repeat(257) }] }, "title"],
  ["an embed description of 4097", { embeds: [{ description: "x".repeat(4097) }] }, "description"],
  ["26 embed fields", { embeds: [{ fields: many(26, { name: "n", value: "v" }) }] }, "fields"],
  ["an embed field without value", { embeds: [{ fields: [{ name: "n", value: "" }] }] }, "value"],
  [
    "embeds of 6001 characters",
    { embeds: [{ description: "x".repeat(4000) }, { description: "x".repeat(2001) }] },
    "6000",
  ],
  ["an embed with a script address", { embeds: [{ title: "x", url: "javascript:alert(1)" }] }, "Scheme"],
  ["an attachment without file", { content: "x", attachments: [{ id: 0, filename: "a" }] }, "attachments"],
  ["6 legacy rows", legacy(...many(6).map(() => row(button()))), "components"],
  ["a text display without the flag", legacy(text("x")), "UNION_TYPE_CHOICES"],
  ["6 buttons in a row", legacy(row(...many(6).map(() => button()))), "between 1 and 5"],
  ["an empty row", legacy(row()), "between 1 and 5"],
  ["a button beside a select", legacy(row(button(), select())), "fit within a row"],
  ["a double custom id", legacy(row(button({ custom_id: "a" }), button({ custom_id: "a" }))), "DUPLICATED"],
  ["a custom id of 101", legacy(row(button({ custom_id: "x".repeat(101) }))), "custom_id"],
  ["an empty custom id", legacy(row(button({ custom_id: "" }))), "custom_id"],
  ["a button without custom id", legacy(row({ type: 2, style: 1, label: "B" })), "custom_id"],
  ["a label of 81", legacy(row(button({ label: "x".repeat(81) }))), "label"],
  ["a button without label", legacy(row(button({ label: undefined }))), "label or emoji"],
  ["a button style 7", legacy(row(button({ style: 7 }))), "style"],
  ["a link button without url", legacy(row({ type: 2, style: 5, label: "B" })), "url"],
  ["a link button with custom id", legacy(row(button({ style: 5, url: "https://example.com" }))), "EXCLUSIVE"],
  [
    "a link of 513",
    legacy(row({ type: 2, style: 5, label: "B", url: `https://example.com/${"x".repeat(493)}` })),
    "url",
  ],
  ["a link to a script", legacy(row({ type: 2, style: 5, label: "B", url: "javascript:alert(1)" })), "Scheme"],
  ["a select without options", legacy(row(select({ options: [] }))), "options"],
  ["26 options", legacy(row(select({ options: many(26).map((_, index) => option(String(index))) }))), "options"],
  ["an option label of 101", legacy(row(select({ options: [option("a", { label: "x".repeat(101) })] }))), "label"],
  [
    "an option description of 101",
    legacy(row(select({ options: [option("a", { description: "x".repeat(101) })] }))),
    "description",
  ],
  ["two options with one value", legacy(row(select({ options: [option("a"), option("a")] }))), "already used"],
  ["a placeholder of 151", legacy(row(select({ placeholder: "x".repeat(151) }))), "placeholder"],
  ["more values than options", legacy(row(select({ max_values: 2 }))), "max_values"],
  [
    "min above max",
    legacy(row(select({ options: [option("a"), option("b")], min_values: 2, max_values: 1 }))),
    "min_values",
  ],
  ["max_values 26", legacy(row(select({ max_values: 26 }))), "less than or equal to 25"],
  ["content beside Components V2", { ...v2(text("x")), content: "x" }, "LEGACY_FIELDS"],
  ["embeds beside Components V2", { ...v2(text("x")), embeds: [{ title: "x" }] }, "LEGACY_FIELDS"],
  ["an empty text display", v2(text("")), "content"],
  ["4001 characters of text in all", v2(text("x".repeat(2000)), text("x".repeat(2001))), "4000"],
  ["41 components", v2(...many(39).map(() => text("x")), row(button())), "exceeds 40"],
  ["a button outside of a row", v2(button()), "UNION_TYPE_CHOICES"],
  [
    "a container in a container",
    v2({ type: 17, components: [{ type: 17, components: [text("x")] }] }),
    "UNION_TYPE_CHOICES",
  ],
  ["an empty container", v2({ type: 17, components: [] }), "components"],
  ["a section without accessory", v2({ type: 9, components: [text("x")] }), "accessory"],
  ["a section with 4 texts", v2({ type: 9, components: many(4, text("x")), accessory: button() }), "between 1 and 3"],
  ["an empty gallery", v2(gallery(0)), "items"],
  ["11 pictures", v2(gallery(11)), "between 1 and 10"],
  ["an alt text of 1025", v2(gallery(1, { description: "x".repeat(1025) })), "description"],
  ["a picture that was not sent", v2(gallery(1, { media: { url: "attachment://no.png" } })), "NOT_FOUND"],
  ["a file by address", v2({ type: 13, file: { url: "https://example.com/a" } }), "attachment"],
  ["a colour above white", v2({ type: 17, accent_color: 0x1000000, components: [text("x")] }), "accent_color"],
  ["an input outside of a modal", v2(row({ type: 4, custom_id: "i", style: 1, label: "L" })), "UNION_TYPE_CHOICES"],
];

test.each(ROWS)("%s", async (_name, body, place) => {
  const before = discord.posts().length;
  const { code, reasons } = await refusalOf(send(body));
  expect(code).toBe("400 50035");
  expect(reasons).toContain(place);
  expect(discord.posts().length).toBe(before);
});

test("what fits to the last character is taken", async () => {
  const emoji = "😀".repeat(2000);
  expect((await refusalOf(send({ content: emoji }))).code).toBe("ok");
  expect((await refusalOf(send(v2(text("x".repeat(4000)))))).code).toBe("ok");
  const full = [text("q"), ...many(5).map(() => row(...many(5).map(() => button({ label: "x".repeat(80) }))))];
  expect((await refusalOf(send(v2({ type: 17, components: full })))).code).toBe("ok");
  const options = many(25).map((_, index) => option(String(index).padEnd(100, "v")));
  expect((await refusalOf(send(legacy(row(select({ options, max_values: 25, min_values: 0 })))))).code).toBe("ok");
});

test("text of more than 10,158 bytes fails with 500 although it is short enough", async () => {
  expect((await refusalOf(send(v2(text("字".repeat(3500)))))).code).toBe("500");
  expect((await refusalOf(send(v2(text("字".repeat(3300)))))).code).toBe("ok");
});

test("modals are refused with the place of the problem", () => {
  const input = { type: 4, custom_id: "i", style: 1 };
  const label = (more: Json = {}, component: Json = input) => ({ type: 18, label: "L", component, ...more });
  const modal = (more: Json = {}) => ({ title: "T", custom_id: "m", components: [label()], ...more });
  const rows: [Json, string][] = [
    [modal({ title: "x".repeat(46) }), "data.title"],
    [modal({ custom_id: "" }), "data.custom_id"],
    [modal({ components: [] }), "data.components"],
    [
      modal({ components: many(6).map((_, index) => label({}, { ...input, custom_id: `i${index}` })) }),
      "data.components",
    ],
    [modal({ components: [label(), label()] }), "data.components.1.component.custom_id"],
    [modal({ components: [label({ label: "x".repeat(46) })] }), "data.components.0.label"],
    [modal({ components: [label({ description: "x".repeat(101) })] }), "data.components.0.description"],
    [modal({ components: [label({}, { ...input, label: "twice" })] }), "data.components.0.component.label"],
    [modal({ components: [label({}, { ...input, max_length: 4001 })] }), "data.components.0.component.max_length"],
    [
      modal({ components: [label({}, { ...input, placeholder: "x".repeat(101) })] }),
      "data.components.0.component.placeholder",
    ],
    [modal({ components: [row(button())] }), "data.components.0.components.0.type"],
  ];
  for (const [data, path] of rows) {
    const refused = () => checkModalForm(data);
    expect(refused).toThrow("Invalid Form Body");
    expect(problemPaths(refused)).toContain(path);
  }
  expect(() => checkModalForm(modal())).not.toThrow();
});

function problemPaths(work: () => void): string[] {
  try {
    work();
  } catch (error) {
    return (error as { problems: { path: string }[] }).problems.map(({ path }) => path);
  }
  return [];
}
