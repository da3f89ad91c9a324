/** Demo bots in the playground, with nothing configured: one asks two teammates to argue, and sums up when both have answered. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pause } from "../emulators/loopback.ts";
import { startInside } from "../support/product.ts";
import { Visitor } from "../support/web-visitor.ts";

test("“ask bo and cy to argue, then summarise” works in the playground, and only Ada speaks there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-team-"));
  writeFileSync(join(folder, "parley.yaml"), "web: { port: 0 }");
  const product = await startInside({ folder, env: {}, logs: [] });
  try {
    const sam = new Visitor(product.url);
    const me = await sam.enter("Sam");
    const room = `dm.ada.${me.id}`;
    await sam.say(room, "ask bo and cy to argue about tea or coffee, then summarise", "team-argue-0001");
    const said = async () =>
      (await sam.posts(room)).body.posts.flatMap((post) =>
        post.author.kind === "bot" && post.content.type === "text" ? [`${post.author.name}: ${post.content.html}`] : [],
      );
    for (let tries = 0; (await said()).length < 2 && tries < 600; tries += 1) await pause(50);
    const [first = "", summary = "", ...more] = await said();
    expect(first).toMatch(/^Ada: .*asking Bo and Cy to argue about .*tea or coffee/s);
    expect(summary).toMatch(/^Ada: .*Bo:.*For tea or coffee.*Cy:.*Against tea or coffee.*In short/s);
    expect(more).toEqual([]);
    const state = (await sam.state()).body;
    const others = state.channels.filter((channel) => channel.kind === "direct" && channel.id !== room);
    expect(others.map((channel) => channel.unread)).toEqual(others.map(() => 0));
  } finally {
    await product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 90_000);
