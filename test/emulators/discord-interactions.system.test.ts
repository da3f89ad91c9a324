/**
 * People press, choose, submit and command in the emulated Discord, and the real clients answer: in time, late, twice,
 * privately.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bot, Channel, Discord, Post, User } from "./discord/index.ts";
import { startDiscord } from "./discord/index.ts";
import type { GatewayClient } from "./discord-clients.ts";
import { connect, readOpenApi, refusalOf, restOf } from "./discord-clients.ts";

type Json = Record<string, unknown>;

let discord: Discord;
let ada: Bot;
let alice: User;
let bob: User;
let general: Channel;
let client: GatewayClient;

beforeAll(async () => {
  discord = await startDiscord({ interactionMs: 1000, openApi: readOpenApi() });
  ada = discord.addBot({ name: "Ada" });
  alice = discord.addPerson("Alice");
  bob = discord.addPerson("Bob");
  general = discord.addChannel("general");
  client = await connect(discord, ada);
});
afterAll(async () => {
  await client.manager.destroy();
  await discord.close();
});

const button = (label: string, more: Json = {}) => ({ type: 2, style: 1, label, custom_id: `v1:${label}`, ...more });
const row = (...components: Json[]) => ({ type: 1, components });
const CARD = [
  {
    type: 17,
    components: [
      { type: 10, content: "Which one?" },
      row(button("Yes"), button("No"), button("Off", { disabled: true })),
      row({
        type: 3,
        custom_id: "v1:pick",
        min_values: 1,
        max_values: 2,
        options: ["A", "B", "C"].map((label) => ({ label, value: label.toLowerCase() })),
      }),
    ],
  },
];

async function postCard(channel = general): Promise<Post> {
  const body = { flags: 32_768, components: CARD };
  const sent = (await restOf(discord, ada).post(`/channels/${channel.id}/messages`, { body })) as { id: string };
  return discord.waitForPost(({ id }) => id === sent.id);
}

/** Answers the next interaction with this body. */
function answerNext(body: Json | ((interaction: Json) => Json)): Promise<Json> {
  const before = client.named("INTERACTION_CREATE").length;
  return discord
    .waitUntil(() => client.named("INTERACTION_CREATE")[before], "an interaction")
    .then(async (interaction) => {
      await answer(interaction, typeof body === "function" ? body(interaction) : body);
      return interaction;
    });
}

function answer(interaction: Json, body: Json): Promise<unknown> {
  return restOf(discord, ada).post(`/interactions/${String(interaction.id)}/${String(interaction.token)}/callback`, {
    body,
    auth: false,
  });
}

test("a press carries message, person and permissions, and its answer redraws the card", async () => {
  const card = await postCard();
  const answering = answerNext({ type: 7, data: { components: [{ type: 10, content: "answered" }] } });
  const done = await discord.press(alice, card, "Yes");
  const interaction = await answering;
  expect(done).toMatchObject({ acked: true, type: 7 });
  expect(interaction).toMatchObject({
    type: 3,
    application_id: ada.applicationId,
    context: 0,
    data: { custom_id: "v1:Yes", component_type: 2 },
    message: { id: card.id },
    member: { user: { id: alice.id } },
    attachment_size_limit: 10_485_760,
  });
  expect(discord.read(card)).toMatchObject({ text: "answered", controls: [], edited: true });
});

test("options are chosen by label, within their minimum and maximum", async () => {
  const card = await postCard();
  const answering = answerNext({ type: 6 });
  await discord.choose(alice, card, ["A", "C"]);
  expect((await answering).data).toMatchObject({ custom_id: "v1:pick", component_type: 3, values: ["a", "c"] });
  expect(() => discord.choose(alice, card, ["A", "B", "C"])).toThrow("takes 1 to 2 options");
  expect(() => discord.choose(alice, card, ["D"])).toThrow("there are: A, B, C");
  expect(() => discord.press(alice, card, "Off")).toThrow("disabled");
  expect(() => discord.press(alice, card, "Maybe")).toThrow('there are: button "Yes"');
});

test("without an answer the person reads that it failed, and a later answer is unknown", async () => {
  const card = await postCard();
  const done = await discord.press(alice, card, "Yes");
  expect(done.acked).toBe(false);
  const late = client.named("INTERACTION_CREATE").at(-1) ?? {};
  expect((await refusalOf(answer(late, { type: 6 }))).code).toBe("404 10062");
});

test("a second answer is refused, and so is one that does not fit", async () => {
  const card = await postCard();
  const outcomes: string[] = [];
  const pressing = discord.press(alice, card, "No");
  const interaction = await discord.waitUntil(
    () => client.named("INTERACTION_CREATE").find(({ message }) => (message as Json).id === card.id),
    "the press",
  );
  for (const body of [{ type: 8, data: {} }, { type: 1 }, { type: 6 }, { type: 6 }])
    outcomes.push((await refusalOf(answer(interaction, body))).code);
  expect((await pressing).acked).toBe(true);
  expect(outcomes).toEqual(["400 50035", "400 50035", "ok", "400 40060"]);
});

test("a private answer is seen by one person and reaches the bot like a direct message", async () => {
  const card = await postCard();
  const before = client.named("MESSAGE_CREATE").length;
  const answering = answerNext({ type: 4, data: { content: `not yours, <@${bob.id}>`, flags: 64 } });
  const done = await discord.press(bob, card, "Yes");
  await answering;
  expect(done.privately).toContain("not yours");
  expect(discord.noticesFor(bob)).toHaveLength(1);
  expect(discord.posts(general).some(({ text }) => text.includes("not yours"))).toBe(false);
  await discord.waitUntil(() => client.named("MESSAGE_CREATE").length > before, "the echo");
  const echo = client.named("MESSAGE_CREATE").at(-1);
  expect(echo).toMatchObject({ flags: 64, author: { id: ada.userId } });
  expect(echo).not.toHaveProperty("guild_id");
  expect(echo).not.toHaveProperty("member");
});

test("a modal opens, takes what fits, and its values arrive", async () => {
  const card = await postCard();
  const input = { type: 4, custom_id: "secret", style: 1, min_length: 3, max_length: 10 };
  const components = [
    { type: 10, content: "Stored in the vault" },
    { type: 18, label: "Token", component: input },
  ];
  const opening = answerNext({ type: 9, data: { title: "Secret", custom_id: "v1:modal", components } });
  const pressed = await discord.press(alice, card, "Yes");
  await opening;
  expect(pressed).toMatchObject({ type: 9, modal: { open: true } });
  expect(() => discord.submit(alice, {})).toThrow('"Token" must be filled');
  const storing = answerNext({ type: 4, data: { content: "stored", flags: 64 } });
  const done = await discord.submit(alice, { Token: "abc" });
  expect(done.privately).toBe("stored");
  expect(discord.modal(alice)).toBeNull();
  expect(await storing).toMatchObject({
    type: 5,
    message: { id: card.id },
    data: { custom_id: "v1:modal", components: [{ type: 10 }, { component: { custom_id: "secret", value: "abc" } }] },
  });
});

test("a modal is no answer to a modal, and a closed one sends nothing", async () => {
  const card = await postCard();
  const data = {
    title: "T",
    custom_id: "m",
    components: [{ type: 18, label: "L", component: { type: 4, style: 1, custom_id: "i" } }],
  };
  for (let round = 0; round < 2; round += 1) {
    const opening = answerNext({ type: 9, data });
    await discord.press(alice, card, "Yes");
    await opening;
  }
  const heard = client.named("INTERACTION_CREATE").length;
  discord.closeModal(alice);
  expect(client.named("INTERACTION_CREATE")).toHaveLength(heard);
  const submitting = discord.submit(alice, { L: "x" });
  const interaction = await discord.waitUntil(() => client.named("INTERACTION_CREATE")[heard], "the form");
  expect((await refusalOf(answer(interaction, { type: 9, data }))).code).toBe("400 50035");
  await answer(interaction, { type: 6 });
  await submitting;
});

test("a later answer takes the place of thinking, and follow-ups come after it", async () => {
  const card = await postCard();
  const answering = answerNext({ type: 5, data: { flags: 64 } });
  const done = await discord.press(alice, card, "Yes");
  const interaction = await answering;
  const rest = restOf(discord, ada);
  const webhook = `/webhooks/${ada.applicationId}/${String(interaction.token)}` as const;
  expect(done.type).toBe(5);
  await rest.patch(`${webhook}/messages/@original`, { body: { content: "at last" }, auth: false });
  await rest.post(webhook, { body: { content: "and more", flags: 64 }, auth: false });
  await rest.post(webhook, { body: { content: "for all" }, auth: false });
  expect(
    discord
      .noticesFor(alice)
      .slice(-2)
      .map(({ text }) => text),
  ).toEqual(["at last", "and more"]);
  expect((await discord.waitForPost(({ text }) => text === "for all")).onlyFor).toBeNull();
  await rest.delete(`${webhook}/messages/@original`, { auth: false });
  expect(discord.noticesFor(alice).at(-1)?.text).toBe("and more");
  const foreign = `/webhooks/${ada.applicationId}/unknown/messages/@original` as const;
  expect((await refusalOf(rest.get(foreign, { auth: false }))).code).toBe("404 10015");
});

test("answers without allowed_mentions ping named people only", async () => {
  const card = await postCard();
  const answering = answerNext({ type: 4, data: { content: `<@${bob.id}> @everyone` } });
  await discord.press(alice, card, "Yes");
  await answering;
  const post = await discord.waitForPost(({ text }) => text.endsWith("@everyone"));
  expect(post.pings).toMatchObject({ users: [bob], everyone: false });
});

test("slash commands arrive with their options, unknown ones cannot be typed", async () => {
  await restOf(discord, ada).put(`/applications/${ada.applicationId}/commands`, {
    body: [
      { name: "stop", description: "Stops" },
      {
        name: "group",
        description: "Group",
        options: [
          {
            type: 1,
            name: "on",
            description: "Switches it on",
            options: [{ type: 4, name: "max", description: "Most" }],
          },
        ],
      },
    ],
  });
  const answering = answerNext({ type: 4, data: { content: "on", flags: 64 } });
  await discord.command(alice, general, ada, "group on", { max: 3 });
  expect((await answering).data).toMatchObject({
    name: "group",
    options: [{ name: "on", type: 1, options: [{ name: "max", type: 4, value: 3 }] }],
  });
  expect(() => discord.command(alice, general, ada, "dance")).toThrow("it has: stop, group");
});

test("two people press at once and both are answered", async () => {
  const card = await postCard();
  const answering = [0, 1].map((index) =>
    discord
      .waitUntil(
        () => client.named("INTERACTION_CREATE").filter(({ message }) => (message as Json)?.id === card.id)[index],
        "a press",
      )
      .then((interaction) => answer(interaction, { type: 6 })),
  );
  const results = await Promise.all([discord.press(alice, card, "Yes"), discord.press(bob, card, "No")]);
  await Promise.all(answering);
  expect(results.map(({ acked }) => acked)).toEqual([true, true]);
});

test("an old screen presses what is no longer there", async () => {
  const card = await postCard();
  await restOf(discord, ada).patch(`/channels/${general.id}/messages/${card.id}`, {
    body: { components: [{ type: 10, content: "closed" }] },
  });
  const answering = answerNext({ type: 6 });
  const done = await discord.press(bob, card, "Yes", { force: true });
  await answering;
  expect(done.acked).toBe(true);
});

test("with an endpoint of its own an application gets nothing over the gateway", async () => {
  const card = await postCard();
  const heard = client.named("INTERACTION_CREATE").length;
  const rest = restOf(discord, ada);
  await rest.patch("/applications/@me", { body: { interactions_endpoint_url: "https://example.com/hook" } });
  expect((await discord.press(alice, card, "Yes")).acked).toBe(false);
  expect(client.named("INTERACTION_CREATE")).toHaveLength(heard);
  await rest.patch("/applications/@me", { body: { interactions_endpoint_url: null } });
});

test("a press in direct messages comes with the user, and in an unavailable guild it still comes", async () => {
  const direct = await postCard(discord.dmChannel(alice, ada));
  const first = answerNext({ type: 6 });
  await discord.press(alice, direct, "Yes");
  expect(await first).toMatchObject({ context: 1, user: { id: alice.id } });
  const card = await postCard();
  discord.holdGuild(discord.guild, ada);
  const second = answerNext({ type: 6 });
  expect((await discord.press(alice, card, "Yes")).acked).toBe(true);
  await second;
  discord.releaseGuild(discord.guild, ada);
});
