/** What a bot knows where on Discord (SPEC I4): a thread begins with its own first message, and a click belongs to the conversation it was made in. */
import { expect, test } from "vitest";
import { done, sendMessage, sendWidget } from "../emulators/llm/index.ts";
import { openDiscordStage } from "../support/discord-stage.ts";
import { answering, heard } from "../support/scripts.ts";

const LONG = 120_000;

test(
  "a new thread knows the message it hangs on, and nothing else of a busy channel",
  async () => {
    await using stage = await openDiscordStage();
    const { discord, llm, ada, alice, bob, general } = stage;
    llm.script(
      "ada",
      answering((words) => `heard ${words.slice(-20)}`),
    );
    discord.say(alice, general, `${discord.mention(ada)} channel talk, opening`);
    await discord.waitForPost((post) => post.text.includes("opening"), 20_000);
    for (let n = 0; n < 150; n += 1) discord.say(bob, general, `channel talk, number ${n}`);
    const root = discord.say(bob, general, "the pump is broken");
    const thread = discord.startThread(alice, general, "pump", { on: root });
    discord.say(alice, thread, `${discord.mention(ada)} what is broken?`);
    await discord.waitForPost((post) => post.channel === thread, 30_000);
    const request = llm.requestsOf("ada").find((one) => one.lastUserText.includes("what is broken?"));
    expect(request?.raw).toContain("the pump is broken");
    expect(request?.raw).not.toContain("channel talk");
  },
  LONG,
);

test(
  "a click in direct messages goes on where the question was asked, with everything said before",
  async () => {
    await using stage = await openDiscordStage();
    const { discord, llm, ada, alice, bob } = stage;
    llm.script("ada", (request) => {
      if (request.lastRole !== "user") return done();
      if (heard(request).includes("widget_answer")) return sendMessage("thank you");
      return heard(request).includes("ask me") ? sendWidget("Tea or coffee?", ["Tea", "Coffee"]) : sendMessage("noted");
    });
    discord.dm(alice, ada, "my cup is blue");
    await discord.waitForPost((post) => post.text === "noted", 20_000);
    discord.dm(bob, ada, "my cup is red");
    discord.dm(alice, ada, "ask me");
    const card = await discord.waitForPost((post) => post.text.includes("Tea or coffee?"), 20_000);
    await discord.press(alice, card, "Tea");
    const thanks = await discord.waitForPost((post) => post.text === "thank you", 20_000);
    expect(thanks.channel).toBe(discord.dmChannel(alice, ada));
    const request = llm.requestsOf("ada").find((one) => heard(one).includes("widget_answer"));
    expect(request?.raw).toMatch(/my cup is blue[\s\S]*ask me[\s\S]*Tea/);
    expect(request?.raw).not.toContain("my cup is red");
  },
  LONG,
);
