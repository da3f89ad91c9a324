/** The playground's server as its page meets it: names, messages, privacy, live updates, files and cards. */

import { afterEach, expect, test } from "vitest";
import type { InboundEvent, MessageEvent } from "../../src/engine/index.ts";
import { createMemoryKv } from "../support/memory-kv.ts";
import { Visitor } from "../support/web-visitor.ts";
import { startWebWorld, type WebWorld, type WebWorldOptions } from "../support/web-world.ts";

const open: WebWorld[] = [];

async function start(options?: WebWorldOptions): Promise<WebWorld> {
  const world = await startWebWorld(options);
  open.push(world);
  return world;
}

afterEach(async () => {
  for (const world of open.splice(0)) await world.close();
});

const CLIENT_ID = "client-0001";
const general = { platform: "web", workspaceId: "local", kind: "channel", channelId: "general" } as const;
const messages = (world: WebWorld) => world.events.filter((one): one is MessageEvent => one.type === "message");

test("a chosen name comes back with the cookie, and nobody is anybody without one", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  expect((await sam.state()).body.me).toBeNull();
  await sam.enter("  Sam \u202e ");
  expect((await sam.state()).body.me?.name).toBe("Sam");
  expect((await new Visitor(world.address).posts("general")).status).toBe(401);
});

test("a bot's name and an empty name are refused in words", async () => {
  const world = await start();
  const answers = [];
  for (const name of ["ada", "  ", "x".repeat(50), 7]) {
    answers.push(await new Visitor(world.address).post<{ error: string }>("/api/me", { name }));
  }
  expect(answers.map((one) => one.status)).toEqual([422, 422, 422, 400]);
  expect(answers[0]?.body.error).toContain("name of a bot");
});

test("a message sent three times is shown once and received as one event", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  const sent = await Promise.all([1, 2, 3].map(() => sam.say("general", "hi @Ada", CLIENT_ID)));
  expect(new Set(sent.map((one) => one.body.post.seq)).size).toBe(1);
  expect((await sam.posts("general")).body.posts).toHaveLength(1);
  expect(new Set(messages(world).map((event) => event.dedupeKey)).size).toBe(1);
  expect(messages(world)[0]).toMatchObject({ namesBot: true, mentions: [{ platformId: "ada", start: 3, end: 7 }] });
});

test("a message that could not be stored is not confirmed, and its repetition is not shown twice", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  world.onEvent = () => Promise.reject(new Error("database away"));
  const failed = await sam.say("general", "hello", CLIENT_ID);
  expect(failed.status).toBe(503);
  expect(failed.body.error).toBeTruthy();
  world.onEvent = () => ({ status: "accepted" });
  expect((await sam.say("general", "hello", CLIENT_ID)).body.reception.status).toBe("accepted");
  expect((await sam.posts("general")).body.posts).toHaveLength(1);
});

test("a message written down before a crash is handed in after the restart", async () => {
  const kv = createMemoryKv();
  const first = await start({ kv });
  const sam = new Visitor(first.address);
  await sam.enter("Sam");
  first.onEvent = () => Promise.reject(new Error("killed here"));
  await sam.say("general", "do not forget me", CLIENT_ID);
  await first.close();
  const heard = new Promise<InboundEvent>((resolve) => {
    void start({
      kv,
      prepare: (world) => {
        world.onEvent = (event) => {
          resolve(event);
          return { status: "accepted" };
        };
      },
    });
  });
  expect(await heard).toMatchObject({
    type: "message",
    text: "do not forget me",
    dedupeKey: messages(first)[0]?.dedupeKey,
  });
});

test("a direct conversation is closed to everybody else", async () => {
  const world = await start();
  const [sam, alex] = [new Visitor(world.address), new Visitor(world.address)];
  const { id } = await sam.enter("Sam");
  await alex.enter("Alex");
  const direct = `dm.ada.${id}`;
  await sam.say(direct, "private", CLIENT_ID);
  expect(messages(world)[0]?.conversation).toEqual({
    platform: "web",
    workspaceId: "local",
    kind: "direct",
    channelId: direct,
  });
  expect((await alex.posts(direct)).status).toBe(404);
  expect((await alex.say(direct, "let me in", "client-0002")).status).toBe(404);
  const stream = await alex.listen(`general=0&${encodeURIComponent(direct)}=0`);
  await alex.say("general", "marker", "client-0003");
  const seen = await stream.until((records) => records.some((one) => one.channelId === "general"));
  expect(seen.some((one) => one.channelId === direct)).toBe(false);
  stream.leave();
});

test("a page that reconnects gets what it missed, once and in order", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  const post = (id: string) => world.post("ada", general, { type: "text", content: id, images: [] }, { id });
  const first = await sam.listen((await sam.state()).body.cursor);
  await post("one");
  await post("two");
  const before = await first.until((records) => records.length >= 2);
  first.leave();
  await post("three");
  await post("two");
  const second = await sam.listen(first.cursor);
  await post("four");
  const after = await second.until((records) => records.length >= 2);
  expect([...before, ...after].map((record) => record.seq)).toEqual([1, 2, 3, 4]);
  second.leave();
});

test("what another process posts reaches an open page", async () => {
  const kv = createMemoryKv();
  const [here, there] = [await start({ kv }), await start({ kv })];
  const sam = new Visitor(here.address);
  await sam.enter("Sam");
  const stream = await sam.listen((await sam.state()).body.cursor);
  await there.post("bo", general, { type: "text", content: "from afar", images: [] });
  const seen = await stream.until((records) => records.length > 0);
  expect(seen[0]).toMatchObject({ type: "post", author: { id: "bo" } });
  stream.leave();
});

test("an upload becomes an attachment of the message, stored before it is sent", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  const uploaded = await sam.request("/api/files", {
    method: "POST",
    headers: { "x-file-name": encodeURIComponent("plán.html"), "content-type": "text/html" },
    body: "<script>alert(1)</script>",
  });
  const { uploadId } = (await uploaded.json()) as { uploadId: string };
  const sent = await sam.say("general", "see file", CLIENT_ID, [uploadId]);
  expect(messages(world)[0]?.files[0]).toMatchObject({ name: "plán.html", size: 25, stored: { name: "plán.html" } });
  const content = sent.body.post.content;
  if (content.type !== "message") throw new Error("not a message");
  const file = await sam.request(content.files[0]?.url ?? "");
  expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename\*=UTF-8''pl%C3%A1n\.html$/);
  expect(file.headers.get("content-security-policy")).toContain("sandbox");
  expect(file.headers.get("x-content-type-options")).toBe("nosniff");
  expect(await file.text()).toBe("<script>alert(1)</script>");
});

test("somebody else's upload cannot be attached", async () => {
  const world = await start();
  const [sam, alex] = [new Visitor(world.address), new Visitor(world.address)];
  await sam.enter("Sam");
  await alex.enter("Alex");
  const init = { method: "POST", headers: { "x-file-name": "a.txt", "content-type": "text/plain" }, body: "a" };
  const { uploadId } = (await (await sam.request("/api/files", init)).json()) as { uploadId: string };
  expect((await alex.say("general", "mine", CLIENT_ID, [uploadId])).status).toBe(404);
});

test("an upload over the limit is refused while it streams", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  const init = { method: "POST", headers: { "x-file-name": "big.bin" }, body: new Uint8Array(26 * 1024 * 1024) };
  const answer = await sam.request("/api/files", init);
  expect(answer.status).toBe(413);
  expect(((await answer.json()) as { error: string }).error).toContain("25 MB");
});

test("a picture can be read in ranges, and an unknown file is not there", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  const picture = world.addFile("a.png", "image/png", new Uint8Array(50_000).fill(7), "A");
  await world.post("ada", general, { type: "text", content: "look", images: [picture] });
  const url = `/files/${picture.sha256}.png`;
  const part = await sam.request(url, { headers: { range: "bytes=20000-40000" } });
  expect(part.status).toBe(206);
  expect(part.headers.get("content-range")).toBe("bytes 20000-40000/50000");
  expect((await part.arrayBuffer()).byteLength).toBe(20_001);
  expect((await sam.request(url, { headers: { range: "bytes=60000-" } })).status).toBe(416);
  expect((await sam.request(`/files/${"0".repeat(64)}.png`)).status).toBe(404);
  expect((await sam.request("/files/..%2f..%2fpackage.json")).status).toBe(404);
});

test("another website cannot act for a visitor", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  const body = JSON.stringify({ clientId: CLIENT_ID, text: "forged" });
  const json = { "content-type": "application/json" };
  const tries = [
    { ...json, "sec-fetch-site": "cross-site" },
    { ...json, origin: "https://evil.example" },
    { ...json, origin: "null" },
    { "content-type": "text/plain" },
  ];
  const answers = await Promise.all(
    tries.map((headers) => sam.request("/api/channels/general/messages", { method: "POST", headers, body })),
  );
  expect(answers.map((one) => one.status)).toEqual([403, 403, 403, 415]);
  expect(messages(world)).toEqual([]);
});

test("a click names a card that stands there, and a refusal's reason comes back", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  const card = {
    kind: "retry",
    text: "Failed.",
    controls: [{ value: "retry", label: "Retry", style: "primary" }],
  } as const;
  await world.post("ada", general, card, { cardId: "card-1" });
  const click = { channelId: "general", seq: 1, clientId: CLIENT_ID, choices: ["retry"] };
  world.onEvent = () => ({ status: "refused", reason: "Only Alice may answer this." });
  expect((await sam.post("/api/answers", click)).body).toEqual({
    status: "refused",
    reason: "Only Alice may answer this.",
  });
  expect(world.events.at(-1)).toMatchObject({ type: "answer", cardId: "card-1", choices: ["retry"] });
  expect((await sam.post("/api/answers", { ...click, seq: 9 })).status).toBe(404);
});

test("a settled card is settled on pages opened later", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  const secret = { label: "Key", connector: "acme", field: "key" };
  const posted = await world.post(
    "ada",
    general,
    { type: "secret-request", secret, webForm: false },
    { cardId: "card-1" },
  );
  await world.settle(posted, { state: "dismissed", byName: "Sam" });
  await world.settle(posted, { state: "dismissed", byName: "Sam" });
  const page = (await sam.posts("general")).body;
  expect(page.posts).toHaveLength(1);
  expect(page.posts[0]?.outcome).toMatchObject({ state: "dismissed", byName: "Sam" });
});

test("a channel takes one bot or several, and a free name", async () => {
  const world = await start();
  const sam = new Visitor(world.address);
  await sam.enter("Sam");
  const made = await sam.post<{ id: string }>("/api/channels", { name: "# Big Plans!", bots: ["bo"] });
  expect(made.body.id).toBe("big-plans");
  expect(world.events.at(-1)).toMatchObject({ type: "membership", change: "joined", platformId: "bo" });
  const refused = [];
  for (const body of [
    { name: "big plans", bots: ["bo"] },
    { name: "empty", bots: [] },
    { name: "x", bots: ["eve"] },
  ]) {
    refused.push((await sam.post("/api/channels", body)).status);
  }
  expect(refused).toEqual([409, 422, 422]);
  expect(await world.adapter.members("web-bo", "big-plans")).toContain("bo");
  await sam.post("/api/channels", { name: "two", bots: ["ada", "bo"] });
  expect(await world.adapter.channels?.("web-bo")).toContainEqual({ channelId: "two", name: "two" });
});

test("the page comes with a policy that allows no inline script", async () => {
  const world = await start();
  const page = await fetch(world.address);
  expect([200, 503]).toContain(page.status);
  if (page.status === 200) {
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(await page.text()).not.toMatch(/<script(?![^>]*\ssrc=)/);
  }
});
