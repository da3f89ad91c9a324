/** What a turn is shown of the conversation, and what reading it moves (SPEC I4, M8). */
import { describe, expect, test } from "vitest";
import type { Conversation, Route } from "../../../src/engine/conversation.ts";
import type { Mail, MailBody } from "../../../src/engine/mail.ts";
import type { Store } from "../../../src/engine/store/store.ts";
import type { Entry } from "../../../src/engine/transcript.ts";
import { afterJoin, newestPersonCount, routeAfter, unseenBefore } from "../../../src/engine/turn/turn-input.ts";
import { newProgress } from "../../../src/engine/turn/turn-run.ts";
import { entryOf, mailOf } from "../context/context-parts.ts";

/** What the bot "ada" is shown of these entries when it has seen those up to `cursor`. */
async function unseen(entries: readonly Entry[], cursor = 0, mail: readonly string[] = []) {
  const lastSeq = Math.max(0, ...entries.map((entry) => entry.seq));
  const readEntries: Store["readEntries"] = async ({ afterSeq = 0, limit }) =>
    entries.filter((entry) => entry.seq > afterSeq).slice(-limit);
  const found = await unseenBefore(
    { readEntries } as Store,
    { key: "k", lastSeq } as Conversation,
    cursor,
    "ada",
    new Set(mail),
  );
  return { ...found, unseen: found.unseen.map((entry) => entry.id) };
}
const many = (n: number) => Array.from({ length: n }, (_, i) => entryOf(i + 1));

describe("unseen entries", () => {
  test("are those behind the cursor that are neither mail nor the bot's own nor the host's", async () => {
    const entries = [
      entryOf(1),
      entryOf(2),
      entryOf(3, { botId: "ada", kind: "bubble" }),
      entryOf(4, { botId: "bo", kind: "bubble" }),
      entryOf(5, { kind: "host-card" }),
      entryOf(6),
    ];
    expect(await unseen(entries, 1, ["ent_6"])).toEqual({ unseen: ["ent_2", "ent_4"], omitted: 0, cursor: 6 });
  });

  test("are shown in the order in which they were said, not in which they became known", async () => {
    const root = entryOf(9, { at: new Date(0), kind: "context" });
    expect((await unseen([entryOf(1), root])).unseen).toEqual(["ent_9", "ent_1"]);
  });

  test.each([
    [50, 50, 0, "ent_1"],
    [51, 50, 1, "ent_2"],
    [300, 50, 250, "ent_251"],
    [301, 50, 251, "ent_252"],
    [1000, 50, 950, "ent_951"],
  ])("of %i are at most 50, the newest, and the rest is counted", async (count, shown, omitted, first) => {
    const found = await unseen(many(count));
    expect([found.unseen.length, found.omitted, found.unseen[0], found.cursor]).toEqual([shown, omitted, first, count]);
  });

  test("are none when nothing is new, and the cursor stays", async () => {
    expect(await unseen(many(5), 5)).toEqual({ unseen: [], omitted: 0, cursor: 5 });
    expect(await unseen([], 0)).toEqual({ unseen: [], omitted: 0, cursor: 0 });
  });
});

describe("the number that bubbles take", () => {
  test.each([
    [[entryOf(3), entryOf(5), entryOf(4)], 1, 5],
    [[entryOf(3)], 7, 7],
    [[], 4, 4],
    [[entryOf(9, { address: undefined }), entryOf(8, { address: "t8s1" })], 2, 2],
  ])("is that of the newest person message read", (entries, before, expected) => {
    expect(newestPersonCount(new Map(entries.map((entry) => [entry.id, entry])), before)).toBe(expected);
  });
});

describe("a message that joins a turn", () => {
  const before = {
    ...newProgress(1),
    bubbles: 1,
    said: ["print"],
    refusedInRow: 4,
    callsSinceSend: 3,
    silentTries: 1,
    reminded: ["early-result"],
  };
  test("may be answered in the same words as the one before, and starts the counters anew", () => {
    expect({ ...before, ...afterJoin(2) }).toEqual({ ...newProgress(2), bubbles: 1, workAfterSend: true });
  });
});

describe("the place that is answered", () => {
  const route: Route = {
    conversationKey: "slack:T1:C1",
    installationId: "ins",
    ref: { platform: "slack", workspaceId: "T1", kind: "channel", channelId: "C1" },
    nativeReplyTo: "old",
    replyTo: "t1s1",
  };
  const mail = (body: Partial<MailBody>): Mail => mailOf(2, body);

  test("is that of the newest mail", () => {
    expect(
      routeAfter(route, [
        mail({ nativeReplyTo: "a" } as MailBody),
        mail({ nativeReplyTo: "b", replyTo: "t2s1" } as MailBody),
      ]),
    ).toMatchObject({ nativeReplyTo: "b", replyTo: "t2s1" });
  });

  test("forgets a reply that the newest mail is not", () => {
    const next = routeAfter(route, [mail({ nativeReplyTo: "b" } as MailBody)]);
    expect(next).toMatchObject({ nativeReplyTo: "b", installationId: "ins" });
    expect(next).not.toHaveProperty("replyTo");
  });

  test("stays when no mail came", () => {
    expect(routeAfter(route, [])).toEqual(route);
  });
});
