/** The playground in a real browser: what a person does there and sees happen, also with a lost connection and a restarted server. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium, NO_CHROMIUM } from "../support/browser.ts";
import { createMemoryKv } from "../support/memory-kv.ts";
import { log, openStage, type Stage, say } from "../support/web-stage.ts";

const ADA = { id: "ada", name: "Ada", role: "Research teammate.", model: "demo" };
const here = findChromium() !== null;

describe.skipIf(!here)(here ? "the playground in Chromium" : `the playground (${NO_CHROMIUM})`, () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(async () => stage?.close());
  afterEach(async () => expect(await stage.clear()).toEqual([]));

  test("a name, a suggestion, and an answer: three steps from nothing", async () => {
    const world = await stage.start();
    const page = await stage.visit(world, "Sam");
    expect(await page.getByRole("button", { name: "show everything" }).isVisible()).toBe(true);
    expect(await page.locator(".chip.demo").textContent()).toBe("demo model");
    await page.getByRole("button", { name: "show pictures" }).click();
    await page.getByRole("img", { name: "A river mouth" }).waitFor();
    expect(await log(page).getByRole("article").count()).toBe(2);
  });

  test("every kind of message is shown natively", async () => {
    const world = await stage.start();
    const page = await stage.visit(world, "Sam");
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
    const world = await stage.start({ bots: [ADA] });
    const sam = await stage.visit(world, "Sam");
    const alex = await stage.visit(world, "Alex");
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
    const world = await stage.start();
    const page = await stage.visit(world, "Sam");
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
    const world = await stage.start();
    const page = await stage.visit(world, "Sam");
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

  test("what is written without a connection waits, survives a reload, and is shown once", async () => {
    const world = await stage.start();
    const page = await stage.visit(world, "Sam");
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
    const first = await stage.start({ kv });
    const page = await stage.visit(first, "Sam");
    await say(page, "before");
    await page.getByText("You said: before").waitFor();
    const port = Number(new URL(first.address).port);
    await stage.closeNewest();
    await say(page, "during");
    await page.getByText(/Waiting for the connection|Sending/).waitFor();
    const second = await stage.start({ kv, port });
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

  test("a page whose person the server no longer knows asks for the name again, and goes on", async () => {
    const first = await stage.start();
    const page = await stage.visit(first, "Sam");
    const port = Number(new URL(first.address).port);
    await stage.closeNewest();
    await stage.start({ port });
    await page.getByLabel("What should they call you?").fill("Sam");
    await page.getByRole("button", { name: "Start" }).click();
    await say(page, "here again");
    await page.getByText("You said: here again").waitFor();
  });

  test("who writes in a channel of one bot without naming it is told once how to", async () => {
    const world = await stage.start({ bots: [ADA] });
    const page = await stage.visit(world, "Sam");
    await page.getByRole("link", { name: "general" }).click();
    world.onEvent = () => ({ status: "ignored" });
    await say(page, "hello all");
    await page.getByText("In a channel Ada answers when you write @Ada.").waitFor();
    await say(page, "anybody?");
    await page.getByText("anybody?").waitFor();
    expect(await page.getByText("In a channel Ada answers").count()).toBe(1);
  });

  test("a bot at work is shown, and Stop reaches it", async () => {
    const world = await stage.start();
    const page = await stage.visit(world, "Sam");
    await say(page, "hello");
    await page.getByText("You said: hello").waitFor();
    const asked = world.events.at(-1);
    if (!asked) throw new Error("nothing was heard");
    const place = world.place("ada", asked.conversation);
    await world.adapter.showWorking?.(place, true);
    await page.getByText("Ada is working…").waitFor();
    await page.context().setOffline(true);
    await page.getByText("No connection.").waitFor();
    expect(await page.getByText("Ada is working…").count()).toBe(0);
    await page.context().setOffline(false);
    await page.getByText("Ada is working…").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => world.events.at(-1)?.type).toBe("stop");
    await world.adapter.showWorking?.(place, false);
    await page.getByText("Ada is working…").waitFor({ state: "detached" });
  });

  test("an attached file is sent, shown and can be downloaded", async () => {
    const world = await stage.start();
    const page = await stage.visit(world, "Sam");
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

  test("a channel is made, and @ completes the name of its bot", async () => {
    const world = await stage.start();
    const page = await stage.visit(world, "Sam");
    await page.getByRole("button", { name: "New channel" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Big Plans");
    await page.getByRole("checkbox", { name: /Bo/ }).check();
    await page.getByRole("checkbox", { name: /Ada/ }).uncheck();
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
});
