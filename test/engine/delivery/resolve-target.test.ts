/** Posting elsewhere: only where both the bot and the person it serves are members (SPEC M3). */
import { describe, expect, test } from "vitest";
import type { Bubble } from "../../../src/engine/bubble.ts";
import type { ConversationRef } from "../../../src/engine/conversation.ts";
import { resolveTarget, type TargetSpeaker } from "../../../src/engine/delivery/resolve-target.ts";
import type { Store } from "../../../src/engine/store/store.ts";

const here: ConversationRef = {
  platform: "slack",
  workspaceId: "T1",
  kind: "thread",
  channelId: "C1",
  threadId: "1.0",
};
const general: ConversationRef = { platform: "slack", workspaceId: "T1", kind: "channel", channelId: "C2" };
const direct: ConversationRef = { ...general, kind: "direct", channelId: "D1" };
const ANN = "slack:T1:U_ANN";
const BOB = "slack:T1:U_BOB";
type Found = Awaited<ReturnType<Store["findTargets"]>>;

/** Where a bubble for `channel` goes when the store finds these places and the channel has these members. */
async function target(
  channel: string | undefined,
  found: Found,
  options: { served?: readonly string[]; members?: readonly string[] | Error } = {},
) {
  const { served = [ANN], members = ["U_ANN", "U_ADA"] } = options;
  const asked: object[] = [];
  const findTargets = async (query: object) => {
    asked.push(query);
    return found;
  };
  const store = { findTargets } as unknown as Store;
  const speaker = {
    bot: { id: "ada" },
    adapter: { members: async () => (members instanceof Error ? Promise.reject(members) : members) },
    place: { installationId: "ins", ref: here, nativeReplyTo: "1.5" },
    conversationKey: "slack:T1:C1:1.0",
    authority: { role: "member", personIds: served, names: {} },
  } as unknown as TargetSpeaker;
  const bubble: Bubble = { type: "text", content: "x", images: [], ...(channel ? { channel } : {}) };
  return { asked, result: await resolveTarget(store, speaker, bubble) };
}
const toGeneral: Found = [{ conversationKey: "slack:T1:C2", ref: general }];
const toAnn: Found = [{ conversationKey: "slack:T1:D1", ref: direct, personId: ANN }];

describe("a bubble", () => {
  test("without a channel stays here, and nothing is looked up", async () => {
    const { asked, result } = await target(undefined, []);
    expect(result).toMatchObject({
      ok: true,
      elsewhere: false,
      conversationKey: "slack:T1:C1:1.0",
      place: { nativeReplyTo: "1.5" },
    });
    expect(asked).toEqual([]);
  });

  test("goes to a channel of both, as a new message there", async () => {
    const { asked, result } = await target("#general", toGeneral);
    expect(result).toEqual({
      ok: true,
      elsewhere: true,
      conversationKey: "slack:T1:C2",
      place: { installationId: "ins", ref: general },
    });
    expect(asked).toEqual([{ botId: "ada", platform: "slack", workspaceId: "T1", text: "#general" }]);
  });

  test("goes to the direct message of the person served", async () => {
    expect((await target("@Ann", toAnn)).result).toMatchObject({ ok: true, elsewhere: true, place: { ref: direct } });
  });

  test("named for this very conversation stays here", async () => {
    const found: Found = [{ conversationKey: "slack:T1:C1:1.0", ref: here }];
    expect((await target("C1", found)).result).toMatchObject({ ok: true, elsewhere: false });
  });

  test.each<[string, Found, Parameters<typeof target>[2], RegExp]>([
    ["nothing is found", [], {}, /not a conversation you are in/],
    ["several places are found", [...toGeneral, ...toAnn], {}, /several conversations.*channel's id/],
    ["the person is not a member", toGeneral, { members: ["U_BOB"] }, /not a member/],
    ["one of the people served is not a member", toGeneral, { served: [ANN, BOB] }, /not a member/],
    ["the channel's members cannot be read", toGeneral, { members: new Error("down") }, /not a member/],
    ["the turn serves nobody", toGeneral, { served: [] }, /not a member/],
    ["it is somebody else's direct message", toAnn, { served: [BOB] }, /not a member/],
    ["an id of another workspace looks alike", toGeneral, { served: ["slack:T1:T2:U_ANN"] }, /not a member/],
  ])("is refused when %s", async (_name, found, options, text) => {
    expect((await target("#general", found, options)).result).toMatchObject({
      ok: false,
      text: expect.stringMatching(text),
    });
  });
});
