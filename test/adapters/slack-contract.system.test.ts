/** Slack passes the contract every adapter passes, over Socket Mode. */

import type { ContractHarness } from "./adapter-contract.ts";
import { adapterContract } from "./adapter-contract.ts";
import { openSlackWorld } from "./slack-world.ts";

async function open(): Promise<ContractHarness> {
  const world = await openSlackWorld();
  const { slack, ada, alice, general } = world;
  const post = (nativeId: string) => ({ channel: general, ts: nativeId });
  return {
    adapter: world.adapter,
    received: world.received,
    receiveWith: world.receiveWith,
    say: async (text) => {
      // One copy only: the twin of a mention is the business of the Slack tests.
      slack.say(alice, general, `${slack.mention(ada)} ${text}`, {});
    },
    everythingAcknowledged: () => slack.deliveries.every((delivery) => delivery.acknowledgedAt !== null),
    placeFor: world.placeFor,
    seen: async () =>
      slack.posts(general).map((one) => ({
        nativeId: one.ts,
        text: one.text,
        files: one.files.map((file) => file.name),
        controls: one.controls.map((control) => control.label),
      })),
    loseNextAnswer: () => slack.fail("chat.postMessage", { acceptThen: "drop" }),
    click: async (nativeId, label) => (await slack.press(alice, post(nativeId), label)).acknowledged,
    privateNotices: async () => slack.noticesFor(alice).map((notice) => notice.text),
    file: world.file,
    close: world.close,
  };
}

adapterContract("slack", open);
