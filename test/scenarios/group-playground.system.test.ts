/** The playground's #general as a newcomer meets it: the demo bots are a Group there, introduce themselves, and answer when they are named. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitUntil } from "../emulators/loopback.ts";
import { startInside } from "../support/product.ts";
import { Visitor } from "../support/web-visitor.ts";
import { START_MS } from "../support/world.ts";

test(
  "the demo bots say what they are in one round, show the Group's card, and only the one named answers",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-playground-"));
    const logs: string[] = [];
    writeFileSync(join(folder, "parley.yaml"), "web: { port: 0 }\n");
    const product = await startInside({ folder, env: {}, logs });
    try {
      const sam = new Visitor(product.url);
      await sam.enter("Sam");
      let shown: { author: { id: string }; text: string }[] = [];
      const look = async () => {
        const { posts } = (await sam.posts("general")).body;
        shown = posts.map((post) => ({ author: post.author, text: JSON.stringify(post.content) }));
      };
      const until = async (fits: () => boolean, what: string) => {
        const reading = setInterval(() => void look(), 200);
        await waitUntil(() => fits() || undefined, what, 30_000).finally(() => clearInterval(reading));
      };
      const by = (bot: string) => shown.filter((post) => post.author.id === bot);
      await until(() => by("ada").some((post) => post.text.includes("are a Group")), "the card");
      await sam.say("general", "hello", "client-0001");
      await until(() => by("cy").length > 0 && by("bo").length > 0, "introductions");
      expect(by("ada").some((post) => post.text.includes("Hello Sam"))).toBe(true);
      expect([by("bo").length, by("cy").length]).toEqual([1, 1]);
      await sam.say("general", "@Bo are you a demo?", "client-0002");
      await until(() => by("bo").length === 2, "Bo's answer");
      expect(by("cy")).toHaveLength(1);
    } finally {
      await product.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  START_MS,
);
