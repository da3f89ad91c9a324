/**
 * The playground on a stage: its real page in real Chromium, worlds with the scripted bot, and visitors who have chosen their names.
 * Invariant: after `clear` nothing is left open; what the browser complained about (errors, blocked content) is handed over and fails the test.
 */

import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { buildPlaygroundPage, launchBrowser } from "./browser.ts";
import { runShowcase } from "./web-showcase.ts";
import { startWebWorld, type WebWorld, type WebWorldOptions } from "./web-world.ts";

/** One browser and one build of the page for a file of tests. */
export interface Stage {
  start(options?: WebWorldOptions): Promise<WebWorld>;
  /** Opens the page in a browser of its own and chooses a name. */
  visit(world: WebWorld, name: string, options?: BrowserContextOptions): Promise<Page>;
  closeNewest(): Promise<void>;
  /** Closes pages and worlds; returns what the browser complained about. */
  clear(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Builds the page and starts the browser. */
export async function openStage(): Promise<Stage> {
  const built = await buildPlaygroundPage();
  const browser = await launchBrowser();
  const worlds: WebWorld[] = [];
  const complaints: string[] = [];
  return {
    async start(options = {}) {
      const world = await startWebWorld({ publicFolder: built.folder, prepare: runShowcase, ...options });
      worlds.push(world);
      return world;
    },
    visit: (world, name, options = {}) => visit(browser, complaints, world, name, options),
    async closeNewest() {
      await worlds.pop()?.close();
    },
    async clear() {
      for (const context of browser.contexts()) await context.close();
      for (const world of worlds.splice(0)) await world.close();
      return complaints.splice(0);
    },
    async close() {
      await browser.close();
      built.remove();
    },
  };
}

async function visit(
  browser: Browser,
  complaints: string[],
  world: WebWorld,
  name: string,
  options: BrowserContextOptions,
): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1200, height: 850 }, ...options })).newPage();
  page.setDefaultTimeout(15_000);
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

/** Writes and sends. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: /^Message/ }).fill(text);
  await page.keyboard.press("Enter");
}

/** The conversation's lines. */
export function log(page: Page): Locator {
  return page.getByRole("log");
}
