/** Files to and from Discord. */

import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { InboundFile, Place } from "../../src/engine/index.ts";
import { bubble, deliver, noProgress, pieces, waitUntil } from "./deliveries.ts";
import { type DiscordWorld, openDiscordWorld } from "./discord-world.ts";

const MESSAGES = "POST /channels/:id/messages";
const here = (world: DiscordWorld): Place => world.placeIn({ kind: "channel", channelId: world.general.id });

async function fetchBytes(world: DiscordWorld, file: InboundFile | undefined) {
  if (!file) throw new Error("no file");
  const opened = await world.adapter.fetchFile?.(here(world).installationId, file, new AbortController().signal);
  if (!opened?.ok) throw new Error(opened?.text ?? "not fetched");
  return (await buffer(opened.body)).toString();
}

async function upload(world: DiscordWorld, name = "note.txt", bytes = "the words") {
  const post = world.discord.say(world.alice, world.general, `look ${name}`, {
    files: [{ name, bytes, type: "text/plain" }],
  });
  const event = await world.message(`look ${name}`);
  return { post, file: event.files[0] };
}

test("pictures are one gallery with their descriptions, their bytes uploaded", async () => {
  const world = await openDiscordWorld();
  const images = [world.file("one two.png", "image/png", "first"), world.file("b.png", "image/png", "second")];
  await deliver(world, bubble("e1", { type: "text", content: "Look", images }), here(world));
  const [text, gallery] = world.discord.posts(world.general);
  expect(text?.text).toBe("Look");
  expect(gallery?.gallery.map((item) => item.description)).toEqual(["the file one two.png", "the file b.png"]);
  expect(gallery?.files.map((file) => [file.bytes.toString(), file.shown])).toEqual([
    ["first", true],
    ["second", true],
  ]);
  expect(world.discord.refusals).toEqual([]);
  await world.close();
});

test("two pictures of the same name are both shown", async () => {
  const world = await openDiscordWorld();
  const image = world.file("a.png", "image/png", "same");
  await deliver(world, bubble("e1", { type: "text", content: "Look", images: [image, image] }), here(world));
  expect(world.discord.posts(world.general)[1]?.files.every((file) => file.shown)).toBe(true);
  await world.close();
});

test("another file is a message of its own, with its description as caption", async () => {
  const world = await openDiscordWorld();
  await deliver(
    world,
    bubble("e1", { type: "attachment", file: world.file("r.pdf", "application/pdf", "%PDF") }),
    here(world),
  );
  const [post] = world.discord.posts(world.general);
  expect(post?.files.map((file) => [file.name, file.bytes.toString()])).toEqual([["r.pdf", "%PDF"]]);
  expect(post?.text).toContain("the file r.pdf");
  await world.close();
});

test("a file over the server's limit is refused before a byte is sent, and the words before it stand", async () => {
  const world = await openDiscordWorld();
  const big = { ...world.file("song.png", "image/png", "x"), size: 11 * 1024 * 1024 };
  const [words, file] = pieces(world, bubble("e1", { type: "text", content: "The song:", images: [big] }), here(world));
  if (!words || !file) throw new Error("two pieces");
  await world.adapter.deliver(words, noProgress);
  const before = world.discord.calls(MESSAGES).length;
  await expect(world.adapter.deliver(file, noProgress)).rejects.toThrow(/song\.png has 11 MiB.*at most 10 MiB/);
  expect(world.discord.calls(MESSAGES)).toHaveLength(before);
  expect(world.discord.posts(world.general).map((post) => post.text)).toEqual(["The song:"]);
  await world.close();
});

test("a boosted server takes more", async () => {
  const world = await openDiscordWorld();
  world.discord.guild.tier = 2;
  await world.adapter.stop();
  world.discord.forgetSessions();
  await world.restart();
  const big = { ...world.file("song.ogg", "audio/ogg", "x"), size: 30 * 1024 * 1024 };
  await deliver(world, bubble("e1", { type: "attachment", file: big }), here(world));
  expect(world.discord.posts(world.general)).toHaveLength(1);
  await world.close();
});

test("Discord's own 'too large' is told in words", async () => {
  const world = await openDiscordWorld();
  world.discord.fail(MESSAGES, { error: { status: 413, code: 40_005 } });
  const [piece] = pieces(
    world,
    bubble("e1", { type: "attachment", file: world.file("a.zip", "application/zip", "x") }),
    here(world),
  );
  if (!piece) throw new Error("nothing was rendered");
  await expect(world.adapter.deliver(piece, noProgress)).rejects.toMatchObject({ problem: "content" });
  await world.close();
});

test("an upload that landed though its answer was lost is found", async () => {
  const world = await openDiscordWorld();
  const [piece] = pieces(
    world,
    bubble("e1", { type: "attachment", file: world.file("a.png", "image/png", "x") }),
    here(world),
  );
  if (!piece) throw new Error("nothing was rendered");
  world.discord.fail(MESSAGES, { acceptThen: "drop" });
  await expect(world.adapter.deliver(piece, noProgress)).rejects.toMatchObject({ problem: "unknown" });
  const found = await waitUntil(
    () => world.adapter.find({ ...piece, attempts: 1, attemptedAt: new Date() }),
    "the post",
  );
  expect(found.nativeId).toBe(world.discord.posts(world.general)[0]?.id);
  await world.close();
});

test("a person's file is fetched from Discord's hosts", async () => {
  const world = await openDiscordWorld();
  const { file } = await upload(world);
  expect(file).toMatchObject({ name: "note.txt", mediaType: "text/plain", size: 9 });
  expect(await fetchBytes(world, file)).toBe("the words");
  await world.close();
});

test("a link that has expired is asked for again", async () => {
  const world = await openDiscordWorld();
  const { file } = await upload(world);
  world.discord.fail("download", { status: 404 });
  expect(await fetchBytes(world, file)).toBe("the words");
  await world.close();
});

test("a file that is gone is said to be gone, and is not tried for ever", async () => {
  const world = await openDiscordWorld();
  const { post, file } = await upload(world);
  world.discord.fail("download", { status: 404 }, { times: 10 });
  world.discord.erase(post);
  if (!file) throw new Error("no file");
  const answer = await world.adapter.fetchFile?.(here(world).installationId, file, new AbortController().signal);
  expect(answer).toEqual({ ok: false, text: expect.stringContaining("expired") as unknown });
  await world.close();
});

test("trouble that may pass asks to come again", async () => {
  const world = await openDiscordWorld();
  const { file } = await upload(world);
  world.discord.fail("download", { status: 503 });
  if (!file) throw new Error("no file");
  const answer = await world.adapter.fetchFile?.(here(world).installationId, file, new AbortController().signal);
  expect(answer).toMatchObject({ ok: false, retryAfterMs: 2000 });
  await world.close();
});

test("nothing is fetched from anywhere else, and nothing too large", async () => {
  const world = await openDiscordWorld();
  const signal = new AbortController().signal;
  const ask = (file: InboundFile) => world.adapter.fetchFile?.(here(world).installationId, file, signal);
  const elsewhere = { platformFileId: "1/2/3", name: "a", url: "https://evil.example/a" };
  expect(await ask(elsewhere)).toMatchObject({ ok: false, text: expect.stringContaining("not Discord's") as unknown });
  const huge = { platformFileId: "1/2/3", name: "a", url: "https://127.0.0.1/a", size: 900 * 1024 * 1024 };
  expect(await ask(huge)).toMatchObject({ ok: false, text: expect.stringContaining("900 MiB") as unknown });
  await world.close();
});
