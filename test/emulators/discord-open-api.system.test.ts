/**
 * Request bodies checked against an OpenAPI document: a small one always, Discord's own when the test run names it.
 */
import { expect, test } from "vitest";
import { startDiscord } from "./discord/index.ts";
import { judge } from "./discord/open-api.ts";
import { readOpenApi, refusalOf, restOf } from "./discord-clients.ts";

type Json = Record<string, unknown>;

const document = {
  components: {
    schemas: {
      Text: {
        type: "object",
        required: ["type"],
        properties: { type: { const: 10 }, content: { type: "string", maxLength: 3 } },
      },
      Row: {
        type: "object",
        required: ["type"],
        properties: { type: { const: 1 }, parts: { type: "array", minItems: 1 } },
      },
    },
  },
  paths: {
    "/channels/{channel_id}/messages": {
      post: {
        requestBody: {
          content: { "application/json": { schema: { properties: { flags: { type: ["integer", "null"] } } } } },
        },
      },
    },
  },
};

const either = { oneOf: [{ $ref: "#/components/schemas/Text" }, { $ref: "#/components/schemas/Row" }] };

test.each([
  ["a good text", either, { type: 10, content: "abc" }, []],
  ["a long text", either, { type: 10, content: "abcd" }, ["content: OPENAPI_LONG"]],
  ["an empty row", either, { type: 1, parts: [] }, ["parts: OPENAPI_SHORT"]],
  ["a wrong type", { type: "string" }, 5, [": OPENAPI_TYPE"]],
  ["a missing field", { type: "object", required: ["a"] }, {}, ["a: OPENAPI_REQUIRED"]],
  ["a number out of range", { type: "integer", minimum: 1, maximum: 3 }, 4, [": OPENAPI_RANGE"]],
  ["a bad snowflake", { type: "string", format: "snowflake" }, "x", [": OPENAPI_FORMAT"]],
  ["a repeated entry", { type: "array", uniqueItems: true, items: {} }, ["a", "a"], [": OPENAPI_UNIQUE"]],
  ["an unknown choice", { enum: [1, 2] }, 3, [": OPENAPI_ENUM"]],
] as [string, Json, unknown, string[]][])("%s", (_name, schema, value, problems) => {
  expect(judge(document, schema, value, "").map(({ path, code }) => `${path}: ${code}`)).toEqual(problems);
});

test("a body the document does not allow is refused, others pass", async () => {
  const discord = await startDiscord({ openApi: document });
  const rest = restOf(discord, discord.addBot({ name: "Ada" }));
  const path = `/channels/${discord.addChannel("general").id}/messages` as const;
  expect((await refusalOf(rest.post(path, { body: { content: "x", flags: "4" } }))).reasons).toContain("OPENAPI_TYPE");
  expect((await refusalOf(rest.post(path, { body: { content: "x", flags: 4 } }))).code).toBe("ok");
  await discord.close();
});

const official = readOpenApi();

test.skipIf(official === null)("Discord's own document agrees", async () => {
  const discord = await startDiscord({ openApi: official });
  const bot = discord.addBot({ name: "Ada" });
  const rest = restOf(discord, bot);
  const path = `/channels/${discord.addChannel("general").id}/messages` as const;
  const send = (body: Json) => refusalOf(rest.post(path, { body }));
  const components = [
    {
      type: 17,
      accent_color: 255,
      components: [
        { type: 10, content: "x" },
        { type: 14, divider: true, spacing: 1 },
        {
          type: 9,
          components: [{ type: 10, content: "y" }],
          accessory: { type: 2, style: 5, label: "L", url: "https://example.com" },
        },
        { type: 1, components: [{ type: 2, style: 1, label: "B", custom_id: "b" }] },
        { type: 1, components: [{ type: 3, custom_id: "s", options: [{ label: "a", value: "a" }] }] },
      ],
    },
  ];
  expect(
    await send({ flags: 32_768, components, nonce: "n", enforce_nonce: true, allowed_mentions: { parse: [] } }),
  ).toMatchObject({ code: "ok" });
  expect((await send({ content: "x", embeds: "none" })).reasons).toContain("OPENAPI");
  expect((await send({ flags: 32_768, components: [{ type: 10, content: "x".repeat(4001) }] })).reasons).toContain(
    "OPENAPI",
  );
  await discord.close();
});

test.skipIf(official === null)("the emulator's own answers have the shape of Discord's document", async () => {
  const discord = await startDiscord();
  const bot = discord.addBot({ name: "Ada", guildMembers: true });
  const alice = discord.addPerson("Alice");
  const general = discord.addChannel("general");
  const said = discord.say(alice, general, `hi ${discord.mention(bot)}`, {
    poll: "ok?",
    files: [{ name: "a.png", bytes: "x" }],
  });
  discord.reply(alice, said, "more");
  discord.startThread(alice, general, "talk", { on: said });
  discord.addChannel("forum", { kind: "forum", tags: ["one"] });
  const rest = restOf(discord, bot);
  const media = { media: { url: "attachment://a.png" }, description: "d" };
  const card = [{ type: 17, components: [{ type: 10, content: "t" }, { type: 12, items: [media] }, { type: 14 }] }];
  const files = [{ name: "a.png", data: Buffer.from("x") }];
  await rest.post(`/channels/${general.id}/messages`, { body: { flags: 32_768, components: card }, files });
  const places = [
    ["/gateway/bot", "/gateway/bot"],
    ["/users/@me", "/users/@me"],
    ["/applications/@me", "/applications/@me"],
    ["/guilds/{guild_id}", `/guilds/${discord.guild.id}`],
    ["/guilds/{guild_id}/channels", `/guilds/${discord.guild.id}/channels`],
    ["/guilds/{guild_id}/members", `/guilds/${discord.guild.id}/members`],
    ["/guilds/{guild_id}/threads/active", `/guilds/${discord.guild.id}/threads/active`],
    ["/channels/{channel_id}", `/channels/${general.id}`],
    ["/channels/{channel_id}/messages", `/channels/${general.id}/messages`],
  ] as [string, `/${string}`][];
  for (const [template, path] of places) {
    const answer = await rest.get(path);
    expect({ path, problems: judge(official as Json, schemaOf(template), answer, "") }).toEqual({ path, problems: [] });
  }
  await discord.close();
});

/** The schema of a GET's answer. */
function schemaOf(template: string): Json {
  const steps = ["paths", template, "get", "responses", "200", "content", "application/json", "schema"];
  return steps.reduce((node: Json, step) => node[step] as Json, official as Json);
}
