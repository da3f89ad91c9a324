/** Secrets on Discord: a form of its own, a one-time link, a way to decline; the value appears nowhere else. */

import { expect, test } from "vitest";
import type { BubbleContent, SecretEvent } from "../../src/engine/index.ts";
import { bubble, deliver, waitUntil } from "./deliveries.ts";
import { type DiscordWorld, openDiscordWorld } from "./discord-world.ts";

const CANARY = "canary-7f3a91c2e5";
const ask = (webForm: boolean): BubbleContent => ({
  type: "secret-request",
  secret: { label: "Key for Acme", description: "To read orders", connector: "acme", field: "key" },
  webForm,
});

async function request(world: DiscordWorld, webForm = true) {
  const place = world.placeIn({ kind: "channel", channelId: world.general.id });
  const [receipt] = await deliver(world, bubble("e1", ask(webForm), "c1"), place);
  return { channel: world.general, id: receipt?.nativeId ?? "" };
}

test("the form takes the value to the engine and nowhere else", async () => {
  const world = await openDiscordWorld();
  const card = await request(world);
  const opened = await world.discord.press(world.alice, card, "Enter it privately");
  expect(opened.type).toBe(9);
  expect(JSON.stringify(opened.modal?.data)).toContain("cannot hide");
  const sent = await world.discord.submit(world.alice, { Secret: CANARY });
  expect(sent.privately).toContain("stored encrypted");
  const event = await waitUntil(
    () => world.received.find((one): one is SecretEvent => one.type === "secret"),
    "the secret",
  );
  expect(event.cardId).toBe("c1");
  expect(event.value.reveal()).toBe(CANARY);
  expect(JSON.stringify(world.received)).not.toContain(CANARY);
  expect(world.logs.join("\n")).not.toContain(CANARY);
  expect(JSON.stringify(world.discord.requests.map((one) => one.body))).not.toContain(CANARY);
  await world.close();
});

test("a refusal of the value is told without it", async () => {
  const world = await openDiscordWorld();
  world.receiveWith(() => Promise.resolve({ status: "refused", reason: "Only Alice may answer this." }));
  const card = await request(world);
  await world.discord.press(world.bob, card, "Enter it privately");
  const sent = await world.discord.submit(world.bob, { Secret: CANARY });
  expect(sent.privately).toBe("Only Alice may answer this.");
  await world.close();
});

test("the one-time link is shown to that person only, as a button", async () => {
  const world = await openDiscordWorld();
  world.receiveWith((event) =>
    Promise.resolve(
      event.type === "secret-link"
        ? { status: "accepted", link: "https://parley.example/s/abc" }
        : { status: "accepted" },
    ),
  );
  const card = await request(world);
  await world.discord.press(world.alice, card, "Use a one-time web form");
  const notice = await world.discord.waitForNotice(world.alice);
  expect(notice.controls).toMatchObject([{ label: "Open the form", url: "https://parley.example/s/abc" }]);
  expect(world.discord.noticesFor(world.bob)).toEqual([]);
  await world.close();
});

test("without a web form only Discord's own is offered", async () => {
  const world = await openDiscordWorld();
  const card = await request(world, false);
  expect(world.discord.read(card)?.controls.map((control) => control.label)).toEqual(["Enter it privately", "Decline"]);
  await world.close();
});

test("declining is an answer too", async () => {
  const world = await openDiscordWorld();
  await world.discord.press(world.alice, await request(world), "Decline");
  await waitUntil(() => world.received.find((one) => one.type === "dismiss"), "the refusal");
  await world.close();
});
