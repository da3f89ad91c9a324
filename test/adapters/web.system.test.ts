/** The playground in a real browser: what a person sees and does, on a desk and on a phone, with mouse, keyboard and a lost connection. */

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildPlaygroundPage, findChromium, launchBrowser, NO_CHROMIUM } from "../support/browser.ts";
import { WEAK_TEXTS } from "../support/contrast.ts";
import { createMemoryKv } from "../support/memory-kv.ts";
import { runShowcase } from "../support/web-showcase.ts";
import { startWebWorld, type WebWorld } from "../support/web-world.ts";

const here = findChromium() !== null;

/** Runs in the page: parts of posts that reach beyond a screen of 360 px and do not scroll by themselves. */
const OUTSIDE_PHONE = `[...document.querySelectorAll(".log .post *")]
  .filter((one) => !one.closest("pre, .table, .visually-hidden") && one.getBoundingClientRect().right > 361)
  .map((one) => one.className)`;

describe.skipIf(!here)(here ? "the playground in Chromium" : `the playground (${NO_CHROMIUM})`, () => {
  let browser: Browser;
  let built: Awaited<ReturnType<typeof buildPlaygroundPage>>;
  const worlds: WebWorld[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    built = await buildPlaygroundPage();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    built?.remove();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    for (const world of worlds.splice(0)) await world.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  async function start(options: Parameters<typeof startWebWorld>[0] = {}): Promise<WebWorld> {
    const world = await startWebWorld({ publicFolder: built.folder, prepare: runShowcase, ...options });
    worlds.push(world);
    return world;
  }

  async function visit(world: WebWorld, name: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext({ viewport: { width: 1200, height: 850 }, ...options })).newPage();
    page.setDefaultTimeout(10_000);
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (line) => {
      if (/Content Security Policy|Refused to/.test(line.text())) complaints.push(line.text());
    });
    await page.goto(world.address);
    await page.getByLabel("What should they call you?").fill(name);
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("textbox", { name: /^Message/ }).waitFor();
    return page;
  }

  async function say(page: Page, text: string): Promise<void> {
    await page.getByRole("textbox", { name: /^Message/ }).fill(text);
    await page.keyboard.press("Enter");
  }

  const log = (page: Page) => page.getByRole("log");

  test("a name, a suggestion, and an answer: three steps from nothing", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    expect(await page.getByRole("button", { name: "show everything" }).isVisible()).toBe(true);
    expect(await page.locator(".chip.demo").textContent()).toBe("demo model");
    await page.getByRole("button", { name: "show pictures" }).click();
    await page.getByRole("img", { name: "A river mouth" }).waitFor();
    expect(await log(page).getByRole("article").count()).toBe(2);
  });

  test("every kind of message is shown natively", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    await say(page, "show everything");
    await page.getByRole("button", { name: "Retry" }).waitFor();
    expect(await log(page).getByRole("table").count()).toBe(2);
    expect(await log(page).getByRole("img").count()).toBe(3);
    expect(await page.getByRole("link", { name: "Download tidal-sites.csv" }).isVisible()).toBe(true);
    expect(await page.getByRole("radio").count()).toBe(6);
    expect(await page.getByRole("checkbox").count()).toBe(4);
    expect(await page.getByRole("combobox", { name: "Which month?" }).count()).toBe(1);
    expect(await page.getByLabel("Tide API key").getAttribute("type")).toBe("password");
    expect(await page.getByRole("link", { name: /Open agent/ }).getAttribute("href")).toBe(
      "https://cursor.com/agents?id=bc-7f3a",
    );
    expect(await page.getByRole("link", { name: "barrage" }).getAttribute("rel")).toContain("noopener");
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: /Copied|Not allowed here/ }).waitFor();
  });

  test("a chosen answer freezes the question on every page, and a late click is told so privately", async () => {
    const world = await start();
    const sam = await visit(world, "Sam");
    const alex = await visit(world, "Alex");
    for (const page of [sam, alex]) await page.getByRole("link", { name: "general" }).click();
    await say(sam, "@Ada show widget");
    await alex.getByRole("button", { name: "Wednesday" }).waitFor();
    await alex.context().setOffline(true);
    await sam.getByRole("button", { name: "Wednesday" }).click();
    await sam.getByText("Answered by Sam").waitFor();
    expect(await sam.getByRole("button", { name: "Wednesday" }).count()).toBe(0);
    await alex.context().setOffline(false);
    await alex.getByText("Answered by Sam").waitFor();
    world.onEvent = () => ({ status: "refused", reason: "Only Sam may answer this." });
    await alex.getByRole("checkbox", { name: "News" }).check();
    await alex.locator(".card", { hasText: "Which sources" }).getByRole("button", { name: "Submit" }).click();
    await alex.getByText("Only Sam may answer this.").waitFor();
    expect(await sam.getByText("Only Sam may answer this.").count()).toBe(0);
  });

  test("several choices respect the maximum, and one's own words can be given", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    await say(page, "show widget");
    await page.getByRole("checkbox", { name: "Papers" }).check();
    await page.getByRole("checkbox", { name: "News" }).check();
    expect(await page.getByRole("checkbox", { name: "Forums" }).isDisabled()).toBe(true);
    await page.locator(".card", { hasText: "Which sources" }).getByRole("button", { name: "Submit" }).click();
    await page.getByText("Answered by Sam").waitFor();
    expect(world.events.at(-1)).toMatchObject({ type: "answer", choices: ["papers", "news"] });
    await page.getByRole("button", { name: "Other…" }).click();
    await page.keyboard.type("Friday at noon");
    await page.keyboard.press("Enter");
    await page.locator(".chosen", { hasText: "Friday at noon" }).waitFor();
  });

  test("a secret is masked, leaves no trace in the page, and can be declined", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    await say(page, "show secret");
    await page.getByLabel("Tide API key").fill("correct horse battery");
    await page.getByRole("button", { name: "Store securely" }).click();
    await page.getByText("Stored in the vault by Sam").waitFor();
    expect(await page.content()).not.toContain("correct horse");
    expect(JSON.stringify(world.events.at(-1))).not.toContain("correct horse");
    await say(page, "show secret again");
    await page.getByRole("button", { name: "Decline" }).click();
    await page.getByText("Declined by Sam").waitFor();
  });

  test("pictures open full-screen and obey arrows and Escape", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    await say(page, "show pictures");
    await page.getByRole("button", { name: "Open picture: A bay at dawn" }).press("Enter");
    const viewer = page.getByRole("dialog", { name: "Picture" });
    await viewer.getByText("A bay at dawn · 1 of 3").waitFor();
    await page.keyboard.press("ArrowRight");
    await viewer.getByText("A river mouth · 2 of 3").waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await viewer.getByText("A strait in the evening · 3 of 3").waitFor();
    await page.keyboard.press("Escape");
    await viewer.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(
      "Open picture: A bay at dawn",
    );
  });

  test("what is written without a connection waits, survives a reload, and is shown once", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    await page.context().setOffline(true);
    await say(page, "first while away");
    await say(page, "second while away");
    await page.getByText("Waiting for the connection").first().waitFor();
    await page.context().setOffline(false);
    await page.getByText("You said: second while away").waitFor();
    await page.reload();
    await page.getByText("You said: second while away").waitFor();
    expect(await page.locator(".mine").allInnerTexts()).toHaveLength(2);
    const heard = world.events.filter((event) => event.type === "message").map((event) => event.text);
    expect(heard).toEqual(["first while away", "second while away"]);
  });

  test("a restart of the server loses and doubles nothing on an open page", async () => {
    const kv = createMemoryKv();
    const first = await start({ kv });
    const page = await visit(first, "Sam");
    await say(page, "before");
    await page.getByText("You said: before").waitFor();
    const port = Number(new URL(first.address).port);
    await worlds.pop()?.close();
    await say(page, "during");
    await page.getByText(/Waiting for the connection|Sending/).waitFor();
    const second = await start({ kv, port });
    await page.getByText("You said: during").waitFor();
    await say(page, "after");
    await page.getByText("You said: after").waitFor();
    const lines = await page.locator(".post .bubble").allInnerTexts();
    expect(lines.map((line) => line.trim())).toEqual([
      "before",
      "You said: before",
      "during",
      "You said: during",
      "after",
      "You said: after",
    ]);
    expect(second.events.filter((event) => event.type === "message")).toHaveLength(2);
  });

  test("a bot at work is shown, and Stop reaches it", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    await say(page, "hello");
    await page.getByText("You said: hello").waitFor();
    const asked = world.events.at(-1);
    if (!asked) throw new Error("nothing was heard");
    const place = world.place("ada", asked.conversation);
    await world.adapter.showWorking?.(place, true);
    await page.getByText("Ada is working…").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => world.events.at(-1)?.type).toBe("stop");
    await world.adapter.showWorking?.(place, false);
    await page.getByText("Ada is working…").waitFor({ state: "detached" });
  });

  test("an attached file is sent, shown and can be downloaded", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Attach files" }).click();
    await (await chooser).setFiles({
      name: "notes.md",
      mimeType: "text/markdown",
      buffer: Buffer.from("# Notes\nhello"),
    });
    await page.getByRole("button", { name: "Remove notes.md" }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Send" }).isEnabled()).toBe(true);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("# Notes").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download notes.md" }).click();
    expect((await download).suggestedFilename()).toBe("notes.md");
  });

  test("unread conversations are marked until they are opened", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    const ref = { platform: "web", workspaceId: "local", kind: "channel", channelId: "general" } as const;
    await world.post("ada", ref, { type: "text", content: "news", images: [] });
    await page.getByRole("link", { name: "general 1 unread" }).click();
    await log(page).getByText("news").waitFor();
    expect(await page.getByRole("link", { name: "general", exact: true }).getAttribute("aria-current")).toBe("page");
  });

  test("a channel is made, and @ completes the name of its bot", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    await page.getByRole("button", { name: "New channel" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Big Plans");
    await page.getByRole("radio", { name: /Bo/ }).check();
    await page.getByRole("button", { name: "Create channel" }).click();
    await page.getByRole("heading", { name: "big-plans", exact: true }).waitFor();
    await page.getByRole("textbox", { name: /^Message/ }).pressSequentially("@b");
    await page.getByRole("option", { name: /Bo/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.type("hello");
    await page.keyboard.press("Enter");
    await page.getByText("You said: @Bo hello").waitFor();
    expect(world.events.at(-1)).toMatchObject({ type: "message", namesBot: true, installationId: "web-bo" });
  });

  test("fits a phone: nothing wider than 360 px, the list in a drawer", async () => {
    const world = await start();
    const page = await visit(world, "Sam", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await say(page, "show everything");
    await page.getByRole("button", { name: "Retry" }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    const outside = await page.evaluate(OUTSIDE_PHONE);
    expect(outside).toEqual([]);
    await page.getByRole("button", { name: "Open the list of conversations" }).click();
    await page.getByRole("link", { name: "general" }).click();
    await page.getByRole("heading", { name: "general", exact: true }).waitFor();
    await page.locator(".sidebar").waitFor({ state: "hidden" });
  });

  test("every control has a name, ids are unique, and the log announces politely", async () => {
    const world = await start();
    const page = await visit(world, "Sam");
    await say(page, "show everything");
    await page.getByRole("button", { name: "Retry" }).waitFor();
    const tree = await page.locator("body").ariaSnapshot();
    expect(
      tree
        .split("\n")
        .filter((line) => /- (button|link|textbox|checkbox|radio|combobox|img)( \[[^\]]*\])*:?$/.test(line)),
    ).toEqual([]);
    const ids = await page.locator("[id]").evaluateAll((all) => all.map((one) => (one as { id: string }).id));
    expect(ids.length).toBe(new Set(ids).size);
    expect(await log(page).getAttribute("aria-live")).toBe("polite");
  });

  test("texts stand out enough from their ground, light and dark", async () => {
    const world = await start();
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await visit(world, `Sam ${colorScheme}`, { colorScheme, reducedMotion: "reduce" });
      await say(page, "show everything");
      await page.getByRole("button", { name: "Retry" }).waitFor();
      expect(await page.evaluate(WEAK_TEXTS)).toEqual([]);
    }
  });
});
