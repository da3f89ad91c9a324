/** Files into an emulated Slack, reading what is there, and small decorations. */

import { expect, test } from "vitest";
import type { MessageEvent } from "../../src/engine/index.ts";
import { bubble, deliver, pieces } from "./deliveries.ts";
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

const text = (content: string, entryId = "e1") => bubble(entryId, { type: "text", content, images: [] });
const hear = async (w: SlackWorld, words: string): Promise<MessageEvent> => {
  w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} ${words}`);
  return w.message(words);
};
const quiet = (w: SlackWorld) => w.slack.settle(150);

scene("pictures are one share in the thread, after the words, with titles", async (w) => {
  const event = await hear(w, "show me");
  const images = [w.file("one.png", "image/png", "first"), w.file("two.png", "image/png", "second")];
  await deliver(w, bubble("e1", { type: "text", content: "Two pictures", images }), w.placeFor(event));
  const posts = w.slack.posts(w.general);
  expect(posts.map((post) => post.threadTs)).toEqual([event.platformId, event.platformId]);
  expect(posts[1]?.files.map((file) => [file.name, file.bytes.toString(), file.title])).toEqual([
    ["one.png", "first", "the file one.png"],
    ["two.png", "second", "the file two.png"],
  ]);
});

scene("a share whose answer was lost is found instead of shown twice", async (w) => {
  const [piece] = pieces(
    w,
    bubble("e1", { type: "attachment", file: w.file("a.txt", "text/plain", "words") }),
    w.placeFor(await hear(w, "file")),
  );
  if (!piece) throw new Error("nothing rendered");
  let progress: unknown = null;
  const save = async (next: unknown) => {
    progress = JSON.parse(JSON.stringify(next));
  };
  w.slack.fail("files.completeUploadExternal", { acceptThen: "drop" });
  await expect(w.adapter.deliver(piece, save)).rejects.toMatchObject({ problem: "unknown" });
  const again = { ...piece, attempts: 1, attemptedAt: new Date(), progress };
  const found = await w.adapter.find(again);
  expect(found?.nativeId).toBe(w.slack.posts(w.general)[0]?.ts);
  expect(await w.adapter.deliver(again, save)).toMatchObject({ nativeId: found?.nativeId });
  expect(w.slack.posts(w.general)).toHaveLength(1);
  expect(w.slack.calls("files.getUploadURLExternal")).toHaveLength(1);
});

scene("an upload that breaks off is asked for again and stays in the thread", async (w) => {
  const event = await hear(w, "file");
  const [piece] = pieces(
    w,
    bubble("e1", { type: "attachment", file: w.file("a.txt", "text/plain", "words") }),
    w.placeFor(event),
  );
  if (!piece) throw new Error("nothing rendered");
  w.slack.fail("upload", { status: 500 });
  await expect(w.adapter.deliver(piece, async () => undefined)).rejects.toMatchObject({ problem: "wait" });
  await w.adapter.deliver(piece, async () => undefined);
  expect(w.slack.posts(w.general)).toMatchObject([{ threadTs: event.platformId }]);
});

scene("an empty file is refused before Slack is asked, and the token is not shown to the upload server", async (w) => {
  const place = w.placeFor(await hear(w, "files"));
  const empty = bubble("e1", { type: "attachment", file: w.file("empty.txt", "text/plain", "") });
  await expect(deliver(w, empty, place)).rejects.toMatchObject({
    problem: "content",
    message: expect.stringContaining("empty"),
  });
  expect(w.slack.calls("files.getUploadURLExternal")).toEqual([]);
  await deliver(w, bubble("e2", { type: "attachment", file: w.file("a.txt", "text/plain", "x") }), place);
  expect(w.slack.calls("upload").map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

scene("first contact names the files of earlier messages", async (w) => {
  const root = w.slack.say(w.bob, w.general, "see here", { files: [{ name: "plan.pdf", bytes: "x" }] });
  w.slack.say(w.alice, w.general, "thanks", { thread: root });
  const ref = w.placeIn({ kind: "thread", channelId: w.general.id, threadId: root.ts });
  const [first] = await w.adapter.history(ref.installationId, ref.ref, 5);
  expect(first).toMatchObject({ text: "see here\n[file: plan.pdf]", isRoot: true });
});

scene("first contact reads the root and the newest replies of a thread", async (w) => {
  const root = w.slack.say(w.bob, w.general, "the root");
  for (let i = 0; i < 6; i += 1) w.slack.say(i % 2 ? w.alice : w.bob, w.general, `reply ${i}`, { thread: root });
  const ref = w.placeIn({ kind: "thread", channelId: w.general.id, threadId: root.ts });
  const history = await w.adapter.history(ref.installationId, ref.ref, 4);
  expect(history.map((one) => [one.text, one.from.name, one.isRoot])).toEqual([
    ["the root", "Bob", true],
    ["reply 3", "Alice", false],
    ["reply 4", "Bob", false],
    ["reply 5", "Alice", false],
  ]);
});

scene("members of a channel are listed", async (w) => {
  expect([...(await w.adapter.members(w.installation(w.ada), w.general.id))].sort()).toEqual(
    [w.ada.userId, w.alice.id, w.bob.id].sort(),
  );
});

scene("the working status appears under the thread and goes again", async (w) => {
  const event = await hear(w, "think");
  const place = w.placeFor(event);
  await w.adapter.showWorking?.(place, true);
  expect(w.slack.status(w.ada, { channel: w.general, ts: event.platformId })).toBe("is thinking…");
  await w.adapter.showWorking?.(place, false);
  expect(w.slack.status(w.ada, { channel: w.general, ts: event.platformId })).toBe("");
});

scene("a reaction that is there already is success", async (w) => {
  const event = await hear(w, "react");
  const place = w.placeFor(event);
  await w.adapter.react?.(place, event.platformId, "👍");
  await w.adapter.react?.(place, event.platformId, ":thumbsup:");
  await expect(w.adapter.react?.(place, event.platformId, "🫥")).rejects.toMatchObject({ problem: "content" });
});

scene("nothing of what people or bots write is in the logs", async (w) => {
  const place = w.placeFor(await hear(w, "my-private-words"));
  w.slack.fail("chat.postMessage", { error: "invalid_blocks" }, { times: 2 });
  await expect(deliver(w, text("bot-private-words"), place)).rejects.toThrow();
  w.receiveWith(() => Promise.reject(new Error("my-private-words could not be stored")));
  w.slack.say(w.alice, w.general, "my-private-words again");
  await quiet(w);
  expect(w.logs.filter((line) => line.includes("private-words"))).toEqual([]);
});
