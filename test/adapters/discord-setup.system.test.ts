/** What the operator's commands say about a Discord bot. */

import { expect, test } from "vitest";
import { setup } from "../../src/adapters/discord/index.ts";
import { startDiscord } from "../emulators/discord/index.ts";

async function open(messageContent = true) {
  const discord = await startDiscord();
  const ada = discord.addBot({ name: "Ada", messageContent });
  discord.addChannel("general");
  const bot = { botId: "ada", settings: { token: ada.token }, apiUrl: discord.apiUrl };
  return { discord, ada, bot };
}

test("the invitation asks for the least permissions, and for threads only when they are used", async () => {
  const { discord, ada, bot } = await open();
  const { link } = await setup.invite({ ...bot, threads: false });
  expect(link).toBe(
    `https://discord.com/oauth2/authorize?client_id=${ada.applicationId}&scope=bot+applications.commands&permissions=274878286912&integration_type=0`,
  );
  expect((await setup.invite({ ...bot, threads: true })).link).toContain("permissions=309238025280");
  await discord.close();
});

test("a bot that is in order gets only good words", async () => {
  const { discord, bot } = await open();
  const found = await setup.check(bot);
  expect(found.filter((one) => one.state === "fault")).toEqual([]);
  expect(found.map((one) => one.what).join("\n")).toMatch(
    /knows the token[\s\S]*Message Content is on[\s\S]*starts are left/,
  );
  await discord.close();
});

test("Message Content that is off is a warning, and is switched on when asked", async () => {
  const { discord, ada, bot } = await open(false);
  const before = await setup.check(bot);
  expect(before.find((one) => one.what.includes("Message Content is off"))?.fix).toContain("--fix");
  expect(ada.messageContent).toBe(false);
  await setup.check({ ...bot, fix: true });
  expect(ada.messageContent).toBe(true);
  await discord.close();
});

test("a wrong token, no server, and an interactions endpoint are faults with a fix", async () => {
  const { discord, ada, bot } = await open();
  expect(await setup.check({ ...bot, settings: { token: "nonsense" } })).toMatchObject([{ state: "fault" }]);
  expect(await setup.check({ ...bot, settings: {} })).toMatchObject([{ state: "fault", fix: "Set discord.token." }]);
  ada.interactionsEndpointUrl = "https://elsewhere.example";
  discord.uninstall(ada, discord.guild);
  const faults = (await setup.check(bot)).filter((one) => one.state === "fault");
  expect(faults.map((one) => one.what).join("\n")).toMatch(/Interactions Endpoint[\s\S]*no server/);
  await discord.close();
});

test("with receipts on, a channel in which the bot may not react is told with what is missing then", async () => {
  const { discord, ada, bot } = await open();
  discord.permit(discord.addChannel("dry"), ada, { deny: ["AddReactions"] });
  const fixes = async (receipts: boolean) => (await setup.check({ ...bot, receipts })).map((one) => one.fix).join("\n");
  expect(await fixes(true)).toContain("receipts of discord.receipts");
  expect(await fixes(false)).not.toContain("receipts");
  await discord.close();
});

test("channels in which the bot lacks something are named with what it lacks", async () => {
  const { discord, ada, bot } = await open();
  const quiet = discord.addChannel("quiet");
  discord.permit(quiet, ada, { deny: ["AttachFiles"] });
  const found = await setup.check(bot);
  expect(found.find((one) => one.what.includes("#quiet (Attach Files)"))?.state).toBe("warning");
  await discord.close();
});
