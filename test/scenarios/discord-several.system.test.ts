/** Several bots and trouble on one Discord server, through the front door: the right bot answers, bots do not loop, and nothing is said twice or lost silently. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, done, sendMessage } from "../emulators/llm/index.ts";
import { openDiscordStage } from "../support/discord-stage.ts";
import { answering } from "../support/scripts.ts";

const LONG = 120_000;
const MESSAGES = "POST /channels/:id/messages";

test(
  "of three bots only the one that is mentioned answers, in the channel, in a thread of another one, and by a plain reply to it",
  async () => {
    await using stage = await openDiscordStage({ bots: ["Ada", "Bo", "Cy"] });
    const { discord, llm, alice, general, bots } = stage;
    const [ada, bo] = bots;
    if (!ada || !bo) throw new Error("three bots were hired");
    for (const { name } of bots)
      llm.script(
        name.toLowerCase(),
        answering((words) => `${name} heard ${words}`),
      );
    discord.say(alice, general, `${discord.mention(bo)} first`);
    const first = await discord.waitForPost((post) => post.text.includes("first"), 20_000);
    discord.reply(alice, first, "second");
    await discord.waitForPost((post) => post.text.includes("second"), 20_000);
    const opened = discord.say(alice, general, `${discord.mention(ada)} third`);
    await discord.waitForPost((post) => post.text.includes("third"), 20_000);
    const thread = discord.startThread(alice, general, "work", { on: opened });
    discord.say(alice, thread, `${discord.mention(bo)} fourth`);
    await discord.waitForPost((post) => post.text.includes("fourth"), 20_000);
    await discord.settle(500);
    expect(discord.posts().map((post) => [post.author.name, post.channel === thread])).toEqual([
      ["Bo", false],
      ["Bo", false],
      ["Ada", false],
      ["Bo", true],
    ]);
    expect(discord.refusals).toEqual([]);
  },
  LONG,
);

test(
  "another bot's replies with a ping are not answered, its typed mentions are, and not for ever",
  async () => {
    await using stage = await openDiscordStage({ settings: { access: { bots: "mentions" } } });
    const { discord, llm, ada, alice, general } = stage;
    let answers = 0;
    llm.script(
      "ada",
      answering(() => `answer ${++answers}`),
    );
    discord.say(alice, general, `${discord.mention(ada)} begin`);
    const first = await discord.waitForPost((post) => post.text === "answer 1", 20_000);
    const other = discord.addForeignBot("Other");
    for (let n = 0; n < 5; n += 1) discord.reply(other, first, `beep ${n}`);
    await discord.settle(700);
    expect(answers).toBe(1);
    for (let n = 0; n < 30; n += 1) {
      discord.reply(other, first, `${discord.mention(ada)} boop ${n}`);
      await discord.settle(60);
    }
    await discord.settle(1000);
    const given = answers;
    expect(given).toBeGreaterThan(3);
    expect(given).toBeLessThanOrEqual(21);
    discord.reply(other, first, `${discord.mention(ada)} once more`);
    await discord.settle(1000);
    expect(answers).toBe(given);
    discord.say(alice, general, `${discord.mention(ada)} still there?`);
    await discord.waitForPost((post) => post.text === `answer ${given + 1}`, 20_000);
  },
  LONG,
);

test(
  "a post that Discord took without ever answering is said once, and the answer goes on behind it",
  async () => {
    await using stage = await openDiscordStage();
    const { discord, llm, ada, alice, general } = stage;
    llm.script("ada", (request) => {
      if (request.callsThisTurn.length === 0) return sendMessage("first words");
      return request.callsThisTurn.length === 1 ? sendMessage("second words") : done();
    });
    discord.fail(MESSAGES, { acceptThen: "hang" }, { bot: ada });
    discord.say(alice, general, `${discord.mention(ada)} two messages, please`);
    await discord.waitForPost((post) => post.text === "second words", 60_000);
    await discord.settle(1000);
    expect(discord.posts().map((post) => post.text)).toEqual(["first words", "second words"]);
    const nonces = discord.calls(MESSAGES).map(({ body }) => body.nonce);
    expect(nonces.every(Boolean)).toBe(true);
  },
  LONG,
);

test(
  "a file over the server's limit is reported to the model, which can say so; the words around it arrive",
  async () => {
    await using stage = await openDiscordStage();
    const { discord, llm, ada, alice, general, folder } = stage;
    writeFileSync(join(folder, "data", "workspace", "song.mp3"), Buffer.alloc(11 * 1024 * 1024, 1));
    llm.script("ada", (request) => {
      if (request.callsThisTurn.length === 0) return sendMessage("here it comes");
      if (request.callsThisTurn.length === 1)
        return call("SendMessage", {
          type: "attachment",
          url: "file:///workspace/song.mp3",
          alt: "a song",
        });
      return request.callsThisTurn.length === 2 ? sendMessage(`Told: ${request.lastToolResult}`) : done();
    });
    discord.say(alice, general, `${discord.mention(ada)} the song`);
    const told = await discord.waitForPost((post) => post.text.startsWith("Told:"), 40_000);
    expect(told.text).toMatch(/song\.mp3.*11 MiB.*10 MiB/);
    expect(discord.posts().map((post) => [post.text.slice(0, 13), post.files.length])).toEqual([
      ["here it comes", 0],
      [told.text.slice(0, 13), 0],
    ]);
    expect(discord.refusals).toEqual([]);
  },
  LONG,
);
