/** The one-time form behind a secret link: masked, used once, closed to other pages, and silent about the value. */

import { afterEach, expect, test } from "vitest";
import type { SecretEvent } from "../../src/engine/index.ts";
import { startWebWorld, type WebWorld } from "../support/web-world.ts";

const open: WebWorld[] = [];

afterEach(async () => {
  for (const world of open.splice(0)) await world.close();
});

const general = { platform: "web", workspaceId: "local", kind: "channel", channelId: "general" } as const;
const TOKEN = "t".repeat(43);

async function withLink(): Promise<WebWorld> {
  const world = await startWebWorld();
  open.push(world);
  world.links.set(TOKEN, {
    cardId: "card-1",
    label: "Key & <more>",
    connector: "acme",
    field: "key",
    botName: "Ada",
    conversation: general,
    installationId: "web-ada",
    person: { id: "web:local:u1", platformId: "u1", name: "Sam", kind: "member" },
  });
  return world;
}

const submit = (world: WebWorld, value: string, headers: Record<string, string> = {}) =>
  fetch(`${world.address}/s/${TOKEN}`, { method: "POST", body: new URLSearchParams({ value }), headers });

test("the one-time form is a masked field on a page that is never kept", async () => {
  const world = await withLink();
  const page = await fetch(`${world.address}/s/${TOKEN}`);
  const html = await page.text();
  expect(html).toMatch(/<input[^>]+type="password"[^>]+autocomplete="off"/);
  expect(html).toContain("Key &#38; &#60;more&#62;");
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
});

test("the one-time form hands the value over and never shows it", async () => {
  const world = await withLink();
  world.onEvent = () => {
    world.links.clear();
    return { status: "accepted" };
  };
  const stored = await submit(world, "correct horse battery");
  expect(stored.status).toBe(200);
  expect(await stored.text()).not.toContain("correct horse");
  const event = world.events.at(-1) as SecretEvent;
  expect(event.value.reveal()).toBe("correct horse battery");
  expect(event).toMatchObject({ type: "secret", cardId: "card-1", token: TOKEN });
  expect(JSON.stringify(event)).not.toContain("correct horse");
  expect((await submit(world, "again and again")).status).toBe(410);
  expect((await fetch(`${world.address}/s/${TOKEN}`)).status).toBe(410);
});

test("a refused secret keeps the form open with the reason, without the value", async () => {
  const world = await withLink();
  world.onEvent = () => ({ status: "refused", reason: "This is too short." });
  const answer = await submit(world, "shorty");
  const html = await answer.text();
  expect(answer.status).toBe(422);
  expect(html).toContain("This is too short.");
  expect(html).not.toContain("shorty");
});

test("the one-time form refuses a foreign page", async () => {
  const world = await withLink();
  expect((await submit(world, "a long enough secret", { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect(world.events).toEqual([]);
});
