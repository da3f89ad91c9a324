/** The looks of the playground in a real browser: phone and desk, light and dark, by keyboard and for a screen reader. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium, NO_CHROMIUM } from "../support/browser.ts";
import { WEAK_TEXTS } from "../support/contrast.ts";
import { log, openStage, type Stage, say } from "../support/web-stage.ts";

const here = findChromium() !== null;

/** Runs in the page: parts of posts that reach beyond a screen of 360 px and do not scroll by themselves. */
const OUTSIDE_PHONE = `[...document.querySelectorAll(".log .post *")]
  .filter((one) => !one.closest("pre, .table, .visually-hidden") && one.getBoundingClientRect().right > 361)
  .map((one) => one.className)`;

describe.skipIf(!here)(
  here ? "the looks of the playground in Chromium" : `the looks of the playground (${NO_CHROMIUM})`,
  () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await openStage();
    });
    afterAll(async () => stage?.close());
    afterEach(async () => expect(await stage.clear()).toEqual([]));

    test("pictures open full-screen and obey arrows and Escape", async () => {
      const world = await stage.start();
      const page = await stage.visit(world, "Sam");
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

    test("unread conversations are marked until they are opened", async () => {
      const world = await stage.start();
      const page = await stage.visit(world, "Sam");
      const ref = { platform: "web", workspaceId: "local", kind: "channel", channelId: "general" } as const;
      await world.post("ada", ref, { type: "text", content: "news", images: [] });
      await page.getByRole("link", { name: "general 1 unread" }).click();
      await log(page).getByText("news").waitFor();
      expect(await page.getByRole("link", { name: "general", exact: true }).getAttribute("aria-current")).toBe("page");
    });

    test("who reads further up keeps the place; what one writes oneself is brought into view", async () => {
      const world = await stage.start();
      const page = await stage.visit(world, "Sam");
      await say(page, "show everything");
      await page.getByRole("button", { name: "Retry" }).waitFor();
      const fromEnd = () =>
        page.evaluate<number>(
          "(([log]) => log.scrollHeight - log.scrollTop - log.clientHeight)([document.querySelector('.log')])",
        );
      await expect.poll(fromEnd).toBeLessThan(2);
      await log(page).hover();
      await page.mouse.wheel(0, -900);
      await page.getByRole("button", { name: "Newest" }).waitFor();
      const asked = world.events.at(-1);
      if (!asked) throw new Error("nothing was heard");
      await world.post("ada", asked.conversation, { type: "text", content: "one more thing", images: [] });
      await page.getByText("one more thing").waitFor();
      expect(await fromEnd()).toBeGreaterThan(500);
      await say(page, "back to the end");
      await page.getByText("You said: back to the end").waitFor();
      await expect.poll(fromEnd).toBeLessThan(2);
    });

    test("fits a phone: nothing wider than 360 px, the list in a drawer", async () => {
      const world = await stage.start();
      const page = await stage.visit(world, "Sam", {
        viewport: { width: 360, height: 740 },
        hasTouch: true,
        isMobile: true,
      });
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
      const world = await stage.start();
      const page = await stage.visit(world, "Sam");
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
      const world = await stage.start();
      for (const colorScheme of ["light", "dark"] as const) {
        const page = await stage.visit(world, `Sam ${colorScheme}`, { colorScheme, reducedMotion: "reduce" });
        await say(page, "show everything");
        await page.getByRole("button", { name: "Retry" }).waitFor();
        expect(await page.evaluate(WEAK_TEXTS)).toEqual([]);
      }
    });
  },
);
