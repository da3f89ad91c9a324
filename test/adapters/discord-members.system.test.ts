/** Who is in a channel, and which bots come and go (SPEC G1): on a server without the privileged list of members. */

import { expect, test } from "vitest";
import type { MembershipEvent } from "../../src/engine/index.ts";
import { waitUntil } from "./deliveries.ts";
import { type DiscordWorld, openDiscordWorld } from "./discord-world.ts";

const NAMES = ["Ada", "Bo", "Cy"];
const installationOf = (world: DiscordWorld) => world.placeIn({ kind: "channel", channelId: "" }).installationId;
const membersOf = async (world: DiscordWorld, channelId: string) =>
  [...(await world.adapter.members(installationOf(world), channelId))].sort();
const channelsOf = async (world: DiscordWorld) =>
  (await world.adapter.channels?.(installationOf(world)))?.map((channel) => channel.name).sort();
const idsOf = (...accounts: readonly ({ readonly userId: string } | { readonly id: string })[]) =>
  accounts.map((one) => ("userId" in one ? one.userId : one.id)).sort();
/** Bots that came or went, in words. */
const moves = (world: DiscordWorld) =>
  world.received
    .filter((one): one is MembershipEvent => one.type === "membership")
    .map(
      (one) =>
        `${world.bots.find((bot) => bot.userId === one.platformId)?.name} ${one.change} ${one.conversation.channelName}`,
    );

test("members of a channel are our bots that see it, whether they wrote or not, and who wrote there", async () => {
  const world = await openDiscordWorld({ bots: NAMES });
  const { discord, alice, general } = world;
  const [ada, bo, cy] = world.bots;
  if (!ada || !bo || !cy) throw new Error("three bots");
  expect(await membersOf(world, general.id)).toEqual(idsOf(ada, bo, cy));
  const hidden = discord.addChannel("hidden", { members: [ada, cy, alice] });
  discord.say(alice, hidden, "hi");
  await world.message("hi");
  await waitUntil(async () => (await membersOf(world, hidden.id)).length === 3, "Cy to see it");
  expect(await membersOf(world, hidden.id)).toEqual(idsOf(ada, cy, alice));
  await world.close();
});

test("members and channels are the same after a restart that goes on with the old sessions", async () => {
  const world = await openDiscordWorld({ bots: NAMES });
  const { discord, ada } = world;
  discord.addChannel("hidden", { members: [] });
  discord.addChannel("ours", { members: world.bots });
  discord.addChannel("heading", { kind: "category" });
  await waitUntil(async () => (await channelsOf(world))?.length === 2, "the new channel");
  expect(await channelsOf(world)).toEqual(["general", "ours"]);
  const begun = discord.identifies(ada);
  await world.restart();
  expect(discord.identifies(ada)).toBe(begun);
  expect((await channelsOf(world))?.length).toBe(2);
  expect(await membersOf(world, world.general.id)).toEqual(idsOf(...world.bots));
  expect(await world.adapter.channels?.(world.placeIn({ kind: "direct", channelId: "x" }).installationId)).toEqual([]);
  await world.close();
});

test("a bot that may not read what was written still knows its teammates", async () => {
  const world = await openDiscordWorld({ bots: NAMES });
  world.discord.fail("GET /channels/:id/messages", { error: { status: 403, code: 50_001 } });
  expect(await membersOf(world, world.general.id)).toEqual(idsOf(...world.bots));
  await world.close();
});

test("a bot that is shut out of a channel, and let in again, leaves and joins at once", async () => {
  const world = await openDiscordWorld({ bots: NAMES });
  const { discord, general } = world;
  const [, bo] = world.bots;
  if (!bo) throw new Error("three bots");
  await channelsOf(world);
  discord.permit(general, bo, { deny: ["ViewChannel"] });
  await discord.waitUntil(() => moves(world).length === 1, "Bo to leave");
  expect(await membersOf(world, general.id)).not.toContain(bo.userId);
  discord.permit(general, bo, { allow: ["ViewChannel"] });
  await discord.waitUntil(() => moves(world).length === 2, "Bo to come back");
  expect(moves(world)).toEqual(["Bo left general", "Bo joined general"]);
  expect(await membersOf(world, general.id)).toContain(bo.userId);
  await world.close();
});

test("a bot that is added to a server, and taken off it, joins and leaves its channels", async () => {
  const world = await openDiscordWorld({ bots: ["Ada", "Bo"] });
  const { discord } = world;
  const [, bo] = world.bots;
  if (!bo) throw new Error("two bots");
  const other = discord.addGuild("Other");
  discord.addChannel("elsewhere", { guild: other });
  discord.install(bo, other);
  await discord.waitUntil(() => moves(world).length === 1, "Bo to join");
  discord.uninstall(bo, other);
  await discord.waitUntil(() => moves(world).length === 2, "Bo to leave");
  expect(moves(world)).toEqual(["Bo joined elsewhere", "Bo left elsewhere"]);
  await world.close();
});
