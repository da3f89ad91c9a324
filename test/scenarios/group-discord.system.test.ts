/** Several bots on one Discord server: Groups on request, and bots that write to each other (SPEC G1, A1); the same promises as on Slack. */

import { expect, test } from "vitest";
import { call, done, sendMessage, together } from "../emulators/llm/index.ts";
import { type DiscordStage, openDiscordStage } from "../support/discord-stage.ts";
import { heard } from "../support/scripts.ts";

const LONG = 120_000;

/** Each bot says its name once in a conversation, then passes. */
function speakOnce({ llm, bots }: DiscordStage) {
  for (const { name } of bots)
    llm.script(name.toLowerCase(), (request) => (request.calls.length > 0 ? done() : sendMessage(`${name} here`)));
}

const spoken = ({ discord }: DiscordStage) =>
  discord
    .posts()
    .map((post) => post.text)
    .filter((text) => text.endsWith(" here"));

test(
  "bots that share a channel stay apart until somebody says /group on; then all are heard, in order",
  async () => {
    await using stage = await openDiscordStage({ bots: ["Ada", "Bo", "Cy"] });
    const { discord, ada, alice, general } = stage;
    speakOnce(stage);
    discord.say(alice, general, "anybody?");
    await discord.settle(500);
    expect(spoken(stage)).toEqual([]);
    await discord.command(alice, general, ada, "group on");
    await discord.waitForPost((post) => post.text.includes("Ada, Bo and Cy are a Group"), 20_000);
    discord.say(alice, general, "and now?");
    await discord.waitUntil(() => spoken(stage).length === 3, "all three", 60_000);
    await discord.settle(500);
    expect(spoken(stage)).toEqual(["Ada here", "Bo here", "Cy here"]);
    expect(discord.refusals).toEqual([]);
  },
  LONG,
);

test(
  "/group on, as the first words in a channel, makes a Group of the bots that see it; one that is let in later joins",
  async () => {
    await using stage = await openDiscordStage({ bots: ["Ada", "Bo", "Cy"] });
    const { discord, alice, bots } = stage;
    speakOnce(stage);
    const [ada, bo, cy] = bots;
    if (!ada || !bo || !cy) throw new Error("three bots were hired");
    const room = discord.addChannel("room", { members: [ada, bo, alice] });
    await discord.command(alice, room, ada, "group on");
    await discord.waitForPost((post) => post.text.includes("Ada and Bo are a Group"), 20_000);
    expect(discord.posts(room).some((post) => post.text.includes("Cy"))).toBe(false);
    discord.permit(room, cy, { allow: ["ViewChannel"] });
    await discord.settle(500);
    await discord.command(alice, room, ada, "group show");
    await discord.waitForPost((post) => post.text.includes("Ada, Bo and Cy are a Group"), 20_000);
    discord.say(alice, room, "good morning");
    await discord.waitUntil(() => spoken(stage).length === 3, "all three", 60_000);
    expect(spoken(stage)).toEqual(["Ada here", "Bo here", "Cy here"]);
    expect(discord.refusals).toEqual([]);
  },
  LONG,
);

test(
  "a reply to a member's bubble is for that member, whichever bot's copy comes first",
  async () => {
    await using stage = await openDiscordStage({
      bots: ["Ada", "Bo", "Cy"],
      settings: { groups: { channels: "all" } },
    });
    const { discord, llm, alice, general, bots } = stage;
    const [ada, bo, cy] = bots;
    if (!ada || !bo || !cy) throw new Error("three bots were hired");
    for (const { name } of bots)
      llm.script(name.toLowerCase(), (request) =>
        request.lastRole === "user" ? sendMessage(`${name} speaks`) : done(),
      );
    const bubbles = () => discord.posts(general).filter((post) => post.text.endsWith(" speaks"));
    discord.say(alice, general, `${discord.mention(bo)} begin`);
    await discord.waitUntil(() => bubbles().length === 1, "Bo", 60_000);
    const [bubble] = bubbles();
    if (!bubble) throw new Error("Bo has not spoken");
    for (const [late, ping] of [
      [[ada, cy], true],
      [[bo], true],
      [[ada, cy], false],
      [[bo], false],
    ] as const) {
      for (const bot of late) discord.disturb({ delayMs: 400, event: "MESSAGE_CREATE" }, { bot });
      const before = bubbles().length;
      discord.reply(alice, bubble, "and what then?", { ping });
      await discord.waitUntil(() => bubbles().length > before, "an answer", 60_000);
      await discord.settle(900);
      discord.calm();
      expect(
        bubbles()
          .slice(before)
          .map((post) => post.author.name),
      ).toEqual(["Bo"]);
    }
  },
  LONG,
);

test(
  "where all channels are Groups, the card stands in a channel once somebody writes there, and in no other",
  async () => {
    await using stage = await openDiscordStage({ bots: ["Ada", "Bo"], settings: { groups: { channels: "all" } } });
    const { discord, alice, general } = stage;
    speakOnce(stage);
    discord.addChannel("quiet");
    const cards = () => discord.posts().filter((post) => post.text.includes("are a Group"));
    discord.say(alice, general, "good morning");
    await discord.waitUntil(() => spoken(stage).length === 2 && cards().length > 0, "both, and the card", 60_000);
    await discord.settle(1500);
    expect(cards().map((post) => post.channel.name)).toEqual(["general"]);
  },
  LONG,
);

test(
  "in a server with more bots than a Group holds, those named by who asks for it are in",
  async () => {
    await using stage = await openDiscordStage({ bots: ["Ada", "Bo", "Cy"], settings: { groups: { maxMembers: 2 } } });
    const { discord, alice, general, bots } = stage;
    speakOnce(stage);
    const [, bo, cy] = bots;
    if (!bo || !cy) throw new Error("three bots were hired");
    discord.say(alice, general, `${discord.mention(cy)} ${discord.mention(bo)} what do you think?`);
    await discord.waitForPost((post) => post.text.includes("Bo and Cy are a Group"), 60_000);
    await discord.waitUntil(() => spoken(stage).length === 2, "both", 60_000);
    expect([...spoken(stage)].sort()).toEqual(["Bo here", "Cy here"]);
  },
  LONG,
);

test(
  "one message that mentions two bots makes the channel a Group, and just those two speak",
  async () => {
    await using stage = await openDiscordStage({ bots: ["Ada", "Bo", "Cy"] });
    const { discord, alice, general, bots } = stage;
    speakOnce(stage);
    const [ada, , cy] = bots;
    if (!ada || !cy) throw new Error("three bots were hired");
    discord.say(alice, general, `${discord.mention(cy)} ${discord.mention(ada)} what do you think?`);
    await discord.waitUntil(() => spoken(stage).length === 2, "both", 60_000);
    await discord.settle(500);
    expect([...spoken(stage)].sort()).toEqual(["Ada here", "Cy here"]);
    await discord.waitForPost((post) => post.text.includes("are a Group"), 20_000);
  },
  LONG,
);

test(
  "a bot asks two teammates, and puts their answers together in the channel where it was asked",
  async () => {
    await using stage = await openDiscordStage({ bots: ["Ada", "Bo", "Cy"] });
    const { discord, llm, ada, alice, general } = stage;
    const got = new Set<string>();
    llm.script("ada", (request) => {
      if (request.lastRole !== "user") return done();
      const reply = /argue-(yes|no)/.exec(heard(request))?.[1];
      const ask = (target: string) => call("SendToAgent", { target, message: "Argue." });
      if (!reply) return together(ask("bo"), ask("cy"));
      got.add(reply);
      return got.size === 2 ? sendMessage(`They said ${[...got].sort().join(" and ")}`) : done();
    });
    llm.script("bo", (request) => (request.lastRole === "user" ? sendMessage("argue-yes") : done()));
    llm.script("cy", (request) => (request.lastRole === "user" ? sendMessage("argue-no") : done()));
    const asked = discord.say(alice, general, `${discord.mention(ada)} let Bo and Cy argue`);
    const result = await discord.waitForPost((post) => post.text === "They said no and yes", 60_000);
    expect([result.channel, result.author.name]).toEqual([general, "Ada"]);
    expect(asked.channel).toBe(general);
    expect(discord.posts().filter((post) => post.text.includes("argue-"))).toEqual([]);
  },
  LONG,
);
