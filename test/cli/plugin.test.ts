/** `parley plugin …` as an operator sees it: what is said, what it returns, and that a package cannot write to the terminal as it likes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { writeTree } from "../support/git-server.ts";
import { deskPackage, parley, skillFile } from "../support/packages.ts";

const made: string[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-cli-plugin-"));
  made.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test("a plugin is added from a relative folder, listed, switched, updated from anywhere and removed", async () => {
  const here = newFolder();
  writeTree(join(here, "desk"), deskPackage());
  const run = (...words: string[]) => parley(here, "plugin", ...words);
  expect(await run("list")).toMatchObject({ code: 0, out: expect.stringContaining("No plugins.") });
  expect((await run("add", "./desk")).out).toMatch(/^Added, for all bots:\nfront-desk 1\.2\.0 /);
  expect((await run("add", "./desk")).out).toMatch(/there already/);
  expect((await run("enable", "front-desk/stock")).out).toBe(
    "front-desk/stock is enabled. It runs or reaches: https://stock.example.com/mcp",
  );
  expect((await run("list")).out).toContain("server stock: on (https://stock.example.com/mcp)");
  expect((await run("update")).out).toBe("front-desk: nothing new.");
  writeTree(join(here, "desk"), { "servers/orders.mjs": "other" });
  await run("enable", "front-desk/orders");
  expect((await run("update", "front-desk")).out).toMatch(/server orders has changed and is off/);
  expect((await run("disable", "front-desk/stock")).out).toBe("front-desk/stock is disabled.");
  expect((await run("remove", "Front-Desk")).code).toBe(0);
  expect((await run("list")).out).toContain("No plugins.");
});

test.each([
  [["add", "./nowhere"], /Not added\. \.\/nowhere: there is no folder/],
  [["add", "file:///etc"], /only https:\/\/ and ssh addresses/],
  [["update", "nobody"], /There is no plugin nobody\. None is installed\./],
  [["remove", "nobody"], /There is no plugin nobody/],
  [["enable", "desk"], /Name plugin and server/],
  [["enable", "desk/x"], /There is no plugin desk/],
])("plugin %j is one readable line and exit code 1", async (words, said) => {
  const { code, out } = await parley(newFolder(), "plugin", ...words);
  expect(code).toBe(1);
  expect(out).toMatch(said);
});

test("what a package says of itself cannot rewrite the terminal", async () => {
  const here = newFolder();
  writeTree(here, {
    "desk/plugin.json": JSON.stringify({
      name: "desk",
      version: "1\u001b[2J\u202e",
      mcpServers: { a: { command: "x\u001b[31m\n" } },
    }),
    "desk/SKILL.md": skillFile("x", "y", "z"),
  });
  const { code, out } = await parley(here, "plugin", "add", "./desk");
  expect(code).toBe(0);
  for (const sign of ["\u001b", "\u202e"]) expect(out).not.toContain(sign);
  expect(out.split("\n")).toHaveLength(4);
});
