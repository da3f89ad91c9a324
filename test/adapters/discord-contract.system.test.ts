/** Discord passes the contract every adapter passes. */

import type { ContractHarness } from "./adapter-contract.ts";
import { adapterContract } from "./adapter-contract.ts";
import { openDiscordWorld } from "./discord-world.ts";

async function open(): Promise<ContractHarness> {
  const world = await openDiscordWorld();
  const { discord, ada, alice, general } = world;
  const read = (nativeId: string) => {
    const post = discord.read({ channel: general, id: nativeId });
    if (!post) throw new Error(`no message ${nativeId}`);
    return post;
  };
  // Discord acknowledges no single event: what counts is from where the next process would go on.
  let remembered = false;
  const look = setInterval(() => void world.isAllRemembered().then((isAll) => (remembered = isAll)), 5);
  return {
    get adapter() {
      return world.adapter;
    },
    received: world.received,
    receiveWith: world.receiveWith,
    say: async (text) => {
      remembered = false;
      discord.say(alice, general, `${discord.mention(ada)} ${text}`);
    },
    everythingAcknowledged: () => remembered,
    placeFor: world.placeFor,
    seen: async () =>
      discord.posts(general).map((one) => ({
        nativeId: one.id,
        text: one.text,
        files: one.files.filter((file) => file.shown).map((file) => file.name),
        controls: one.controls.filter((control) => !control.disabled).map((control) => control.label),
      })),
    loseNextAnswer: () => discord.fail("POST /channels/:id/messages", { acceptThen: "drop" }),
    click: async (nativeId, label) => (await discord.press(alice, read(nativeId), label)).acked,
    privateNotices: async () => discord.noticesFor(alice).map((notice) => notice.text),
    file: world.file,
    close: async () => {
      clearInterval(look);
      await world.close();
    },
  };
}

adapterContract("discord", open);
