/** Files that people upload: which events carry them, and how their bytes are fetched with the bot's token and with nobody else's. */

import { expect, test } from "vitest";
import type { Download, DownloadRequest, InboundFile, MessageEvent } from "../../src/engine/index.ts";
import { openSlackWorld, type SlackWorld, type SlackWorldOptions } from "./slack-world.ts";

function scene(title: string, run: (world: SlackWorld) => Promise<void>, options: SlackWorldOptions = {}): void {
  test(title, async () => {
    const world = await openSlackWorld(options);
    try {
      await run(world);
    } finally {
      await world.close();
    }
  });
}

const never = new AbortController().signal;
const fetchFile = (w: SlackWorld, file: InboundFile) => {
  if (!w.adapter.fetchFile) throw new Error("files cannot be fetched");
  return w.adapter.fetchFile(w.installation(w.ada), file, never);
};
const bytesOf = async (got: Awaited<ReturnType<typeof fetchFile>>): Promise<string> => {
  if (!got.ok) throw new Error(`not fetched: ${got.text}`);
  const parts: Uint8Array[] = [];
  for await (const part of got.body) parts.push(part);
  return Buffer.concat(parts).toString();
};
const hearFiles = async (w: SlackWorld, words: string, options: object = {}): Promise<MessageEvent> => {
  const files = [{ name: "plan.txt", bytes: "the plan", type: "text/plain" }];
  w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} ${words}`, { files, ...options });
  await w.slack.waitUntil(() => w.received.filter((one) => one.type === "message").length > 0, "a message");
  await w.slack.settle(150);
  return w.message(words);
};
const firstFile = async (w: SlackWorld): Promise<InboundFile> => {
  const [file] = (await hearFiles(w, "read this")).files;
  if (!file) throw new Error("no file came along");
  return file;
};

scene("an uploaded file is fetched whole, with the bot's own token", async (w) => {
  const file = await firstFile(w);
  expect(file).toMatchObject({ name: "plan.txt", mediaType: "text/plain", size: 8 });
  expect(await bytesOf(await fetchFile(w, file))).toBe("the plan");
  expect(w.slack.calls("download").map((request) => request.token)).toEqual([w.ada.botToken]);
});

scene("whichever copy of a mention comes first, its files come with it", async (w) => {
  await hearFiles(w, "mention first", { first: "app_mention", gapMs: 60 });
  await hearFiles(w, "same instant", { first: "app_mention", gapMs: 0 });
  await hearFiles(w, "message first", { first: "message", gapMs: 60 });
  const heard = w.received.filter((one): one is MessageEvent => one.type === "message");
  expect(heard).toHaveLength(6);
  expect(heard.map((one) => one.files.map((file) => file.name))).toEqual(Array(6).fill(["plan.txt"]));
  expect(w.slack.calls("conversations.replies")).toEqual([]);
});

scene("a mention whose message never comes asks Slack for the files, also inside a thread", async (w) => {
  w.slack.disturb({ drop: true, event: "message" }, { times: 3 });
  expect((await hearFiles(w, "only the mention")).files).toMatchObject([{ name: "plan.txt" }]);
  const root = w.slack.say(w.bob, w.general, "a thread");
  expect((await hearFiles(w, "only in a thread", { thread: root })).files).toMatchObject([{ name: "plan.txt" }]);
  expect(w.metrics).toContain("parley_slack_unmatched_mentions_total");
});

scene("a mention is not lost when Slack will not say what its message holds", async (w) => {
  w.slack.disturb({ drop: true, event: "message" });
  w.slack.fail("conversations.replies", { hang: true });
  const started = Date.now();
  expect((await hearFiles(w, "nobody knows")).files).toEqual([]);
  expect(Date.now() - started).toBeLessThan(2500);
});

scene("mentions that come again and again without their messages are explained in the health", async (w) => {
  w.slack.disturb({ drop: true, event: "message" }, { times: 5 });
  for (let i = 0; i < 5; i += 1) {
    w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} number ${i}`);
    await w.message(`number ${i}`);
  }
  expect(w.adapter.health()).toMatchObject([
    { state: "connected", remedy: expect.stringContaining("message.channels") },
  ]);
});

scene(
  "a missing permission shows Slack's sign-in page: it is not stored, and the permission is named",
  async (w) => {
    const got = await fetchFile(w, await firstFile(w));
    expect(got).toMatchObject({ ok: false, text: expect.stringContaining("files:read") });
    expect(got).not.toHaveProperty("retryAfterMs");
  },
  { scopes: ["app_mentions:read", "channels:history", "channels:read", "chat:write", "users:read"] },
);

scene(
  "a sign-in page that claims to be the file is found out by how it begins; a page's source in a text file is not",
  async (w) => {
    const picture = { ...(await firstFile(w)), name: "a.png", mediaType: "image/png" };
    const page = "  <!DOCTYPE html><html><title>Sign in</title></html>";
    w.slack.fail("download", { status: 200, body: page, type: "image/png" });
    expect(await fetchFile(w, picture)).toMatchObject({ ok: false, text: expect.stringContaining("files:read") });
    w.slack.fail("download", { status: 200, body: page, type: "text/plain" });
    expect(await bytesOf(await fetchFile(w, { ...picture, name: "page.txt", mediaType: "text/plain" }))).toBe(page);
  },
);

scene("in a channel of two companies only the id comes: Slack is asked where the file lies", async (w) => {
  const { platformFileId } = await firstFile(w);
  const [channel, user] = [w.general.id, w.alice.id];
  w.slack.sendEvent(w.ada, {
    type: "message",
    subtype: "file_share",
    ...{ channel, user, channel_type: "channel", ts: "1700000000.000100", text: "shared" },
    files: [{ id: platformFileId, mode: "file_access", file_access: "check_file_info", created: 0 }],
  });
  const [file] = (await w.message("shared")).files;
  expect(file).toEqual({ platformFileId, name: platformFileId });
  expect(await bytesOf(await fetchFile(w, { platformFileId, name: platformFileId }))).toBe("the plan");
});

scene("a file that is gone, hidden by the plan or not ready is said in words", async (w) => {
  const { platformFileId: id } = await firstFile(w);
  const ask = () => fetchFile(w, { platformFileId: id, name: "plan.txt" });
  const stored = w.slack.workspace.files.get(id);
  if (!stored) throw new Error("no such file");
  Object.assign(stored.body, { mode: "hidden_by_limit" });
  expect(await ask()).toMatchObject({ ok: false, text: expect.stringMatching(/plan hides/) });
  Object.assign(stored.body, { mode: "hosted", url_private: undefined, url_private_download: undefined });
  expect(await ask()).toMatchObject({ ok: false, retryAfterMs: expect.any(Number) });
  w.slack.workspace.files.delete(id);
  expect(await ask()).toMatchObject({ ok: false, text: expect.stringMatching(/no longer has the file plan.txt/) });
});

scene("what is too large is refused before it is fetched, and cut off when it lies about its size", async (w) => {
  const file = await firstFile(w);
  const huge = await fetchFile(w, { ...file, size: 26 * 1024 * 1024 });
  expect(huge).toMatchObject({ ok: false, text: expect.stringMatching(/larger than 25 MB/) });
  expect(w.slack.calls("download")).toEqual([]);
  const video = await fetchFile(w, { ...file, mediaType: "video/mp4", size: 26 * 1024 * 1024 });
  expect(video.ok).toBe(true);
  const stored = w.slack.workspace.files.get(file.platformFileId);
  if (stored) stored.bytes = Buffer.alloc(26 * 1024 * 1024);
  await expect(fetchFile(w, file).then(bytesOf)).rejects.toThrow(/larger/);
});

scene("Slack's slow-down and a file that is not there yet are tried again, a refusal is not", async (w) => {
  const file = await firstFile(w);
  for (const status of [429, 503, 404]) {
    w.slack.fail("download", { status });
    expect(await fetchFile(w, file)).toMatchObject({ ok: false, retryAfterMs: expect.any(Number) });
  }
  w.slack.fail("download", { status: 403 });
  expect(await fetchFile(w, file)).not.toHaveProperty("retryAfterMs");
});

scene("the token goes to Slack's hosts by https only; files elsewhere are fetched without it", async (w) => {
  const seen: { url: string; request: DownloadRequest }[] = [];
  w.guardWith((url, request) => {
    seen.push({ url, request });
    return Promise.resolve({ ok: false, reason: "host-not-listed", text: "no" });
  });
  const file = await firstFile(w);
  const at = (url: string) => fetchFile(w, { ...file, url });
  const urls = [
    "https://files.slack.com/files-pri/T1-F1/a.txt",
    "https://files.slack.com.evil.example/a.txt",
    "https://drive.example/a.txt",
    "http://files.slack.com/a.txt",
    "https://evil.example/?files.slack.com",
  ];
  for (const url of urls) expect(await at(url)).toMatchObject({ ok: false });
  expect(seen.map(({ url, request }) => [url, request.headers?.authorization])).toEqual(
    urls.map((url, index) => [url, index === 0 ? `Bearer ${w.ada.botToken}` : undefined]),
  );
  expect(seen[0]?.request.allowedHosts).toContain("*.slack.com");
});

scene("an external page instead of the file is no file", async (w) => {
  const file = await firstFile(w);
  const page: Download = {
    ok: true,
    status: 200,
    headers: {},
    mediaType: "text/html",
    finalUrl: "https://drive.example/login",
    body: (async function* () {
      yield Buffer.from("<html>");
    })(),
    cancel: () => undefined,
  };
  w.guardWith(() => Promise.resolve(page));
  const got = await fetchFile(w, { ...file, mediaType: "application/pdf", url: "https://drive.example/x" });
  expect(got).toMatchObject({ ok: false, text: expect.stringContaining("drive.example") });
});

scene("the bot's token is in no log line and no text about a file", async (w) => {
  const file = await firstFile(w);
  w.slack.fail("download", { status: 500 }, { times: 2 });
  const got = [await fetchFile(w, file), await fetchFile(w, { ...file, url: "https://files.slack.com/x" })];
  expect(JSON.stringify([got, w.logs])).not.toContain(w.ada.botToken);
});
