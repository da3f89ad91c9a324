/** Installing, updating and removing plugins, over git as it is on the internet: whole versions only, nothing runs, and hostile or slow sources do no harm. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { changeIndex, folderOf, readIndex } from "../../../src/engine/state/plugin-index.ts";
import { createPlugins, listPluginServers, type PluginParts } from "../../../src/engine/state/plugins.ts";
import { findSkills } from "../../../src/engine/state/skills.ts";
import { startGitServer, writeTree } from "../../support/git-server.ts";
import { deskPackage, skillFile } from "../../support/packages.ts";

const made: string[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-plugins-"));
  made.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function place(more: Partial<PluginParts> = {}) {
  const dir = join(newFolder(), "plugins");
  const home = newFolder();
  const parts = { dir, cwd: "/", gitEnv: { PATH: process.env.PATH ?? "", HOME: home }, ...more };
  return { dir, home, plugins: createPlugins(parts) };
}

/** Every path below a folder. */
const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : []);

describe("from git", () => {
  test("a branch, tag, commit or folder of a repository is installed at a commit that stays until an update", async () => {
    await using git = await startGitServer();
    const { dir, plugins } = place();
    const first = git.commit("desk", deskPackage());
    git.git("desk", "tag", "v1");
    const second = git.commit("desk", {
      ...deskPackage("Second."),
      "tools/one/plugin.json": '{"name": "inner"}',
      "tools/one/SKILL.md": skillFile("i", "i", "i"),
    });
    expect(await plugins.add(`${git.url}/desk.git#v1`)).toMatchObject({
      ok: true,
      plugin: { name: "front-desk", commit: first, version: "1.2.0" },
    });
    expect(await plugins.add(`${git.url}/desk.git#:tools/one`)).toMatchObject({
      ok: true,
      plugin: { name: "inner", commit: second },
    });
    expect(await plugins.add(`${git.url}/desk.git#:tools/none`)).toMatchObject({
      ok: false,
      text: expect.stringContaining("no folder tools/none"),
    });
    expect(await plugins.add(`${git.url}/desk.git#nowhere`)).toMatchObject({
      ok: false,
      text: expect.stringContaining("git says: "),
    });
    expect(await plugins.add(`${git.url}/desk.git`)).toMatchObject({
      ok: false,
      text: expect.stringContaining("is installed from"),
    });
    expect(await plugins.update("front-desk")).toMatchObject({ ok: true, changed: false });
    await plugins.remove("front-desk");
    expect(await plugins.add(`${git.url}/desk.git#${first}`)).toMatchObject({ ok: true, plugin: { commit: first } });
    expect(filesIn(dir).filter((path) => path.includes(".git/"))).toEqual([]);
  });

  test("hooks, filters, links and submodules of a repository do nothing, and its settings are not read", async () => {
    await using git = await startGitServer();
    const { dir, home, plugins } = place();
    const trap = join(home, "ran");
    writeFileSync(
      join(home, ".gitconfig"),
      `[filter "trap"]\n\tsmudge = touch ${trap}\n\trequired = true\n[core]\n\thooksPath = ${home}/hooks\n`,
    );
    writeTree(home, { "hooks/post-checkout": `#!/bin/sh\ntouch ${trap}\n` });
    git.commit("other", { "a.txt": "a" });
    git.commit("desk", {
      ...deskPackage(),
      ".gitattributes": "*.md filter=trap\n",
      ".gitmodules": `[submodule "m"]\n\tpath = m\n\turl = ${git.url}/other.git\n`,
      ".githooks/post-checkout": `#!/bin/sh\ntouch ${trap}\n`,
    });
    const work = join(git.git("desk", "rev-parse", "--show-toplevel"), "skills", "way");
    symlinkSync("/etc", work);
    git.git("desk", "add", "-A");
    git.git("desk", "commit", "-q", "-m", "a link");
    const outcome = await plugins.add(`${git.url}/desk.git`);
    expect(outcome).toMatchObject({ ok: true, plugin: { skills: ["front-desk:opening-hours", "front-desk:refunds"] } });
    expect(existsSync(trap)).toBe(false);
    expect(git.requests.some((url) => url.includes("other"))).toBe(false);
    expect(filesIn(dir).some((path) => path.endsWith("skills/way/passwd"))).toBe(false);
    expect(filesIn(dir).some((path) => path.endsWith("front-desk/ran") || path.endsWith("/ran"))).toBe(false);
  });

  test("an address that never answers, or answers with too much, is given up and leaves nothing behind", async () => {
    await using git = await startGitServer();
    const { dir, plugins } = place({ gitLimits: { timeoutMs: 60_000, maxBytes: 1024 * 1024 } });
    git.commit("big", { ...deskPackage(), "zeros.bin": Buffer.alloc(64 * 1024 * 1024) });
    expect(await plugins.add(`${git.url}/big.git`)).toMatchObject({
      ok: false,
      text: expect.stringMatching(/larger than/),
    });
    expect(filesIn(dir)).toEqual([]);
    const hurried = place({ gitLimits: { timeoutMs: 1500, maxBytes: 1024 * 1024 } });
    git.hang();
    const waited = await hurried.plugins.add(`${git.url}/desk.git`);
    expect(waited).toMatchObject({ ok: false, text: expect.stringContaining("longer than 2 s") });
    expect(filesIn(hurried.dir)).toEqual([]);
  });

  test("without git on the machine, and when it is stopped, that is said", async () => {
    const none = place({ gitEnv: { PATH: newFolder() } });
    expect(await none.plugins.add("https://127.0.0.1:1/a.git")).toMatchObject({
      ok: false,
      text: expect.stringContaining("not installed"),
    });
    const ending = new AbortController();
    ending.abort();
    const stopped = place({ signal: ending.signal });
    expect(await stopped.plugins.sync(["https://127.0.0.1:1/a.git"])).toMatchObject([{ outcome: { ok: false } }]);
    expect(await stopped.plugins.failed()).toEqual([]);
  });
});

describe("versions", () => {
  test("a failed update notes why and keeps the old version, a good one clears the note", async () => {
    const { dir, plugins } = place();
    const source = newFolder();
    writeTree(source, deskPackage());
    await plugins.add(source);
    const before = await readIndex(dir);
    writeTree(source, { "skills/refunds/SKILL.md": "bad", "skills/opening-hours/SKILL.md": "bad" });
    expect(await plugins.update("front-desk")).toMatchObject({
      ok: false,
      text: expect.stringContaining("nothing in it can be used"),
    });
    const after = await readIndex(dir);
    expect(after.plugins[0]).toMatchObject({
      content: before.plugins[0]?.content,
      problem: { text: expect.stringContaining("no front matter") },
    });
    const found = await findSkills({ workspaceDir: newFolder(), pluginsDir: dir });
    expect(found.skills).toHaveLength(2);
    expect(found.problems).toMatchObject([{ text: expect.stringContaining("the old version stays") }]);
    rmSync(source, { recursive: true });
    expect(await plugins.update("front-desk")).toMatchObject({
      ok: false,
      text: expect.stringContaining("there is no folder"),
    });
    writeTree(source, deskPackage("New."));
    expect(await plugins.update("front-desk")).toMatchObject({ ok: true, changed: true, plugin: { problems: [] } });
    const folder = folderOf(dir, (await readIndex(dir)).plugins[0] ?? { name: "", content: "" });
    expect(readFileSync(join(folder, "skills/refunds/SKILL.md"), "utf8")).toContain("New.");
  });

  test("a former version stays readable for whoever reads it at the moment of the update, and goes later", async () => {
    const { dir, plugins } = place();
    const source = newFolder();
    writeTree(source, deskPackage());
    await plugins.add(source);
    const folders = () => readdirSync(join(dir, "front-desk"));
    const [old = ""] = folders();
    // Installed long ago: what counts is when it was replaced.
    utimesSync(join(dir, "front-desk", old), new Date(0), new Date(0));
    writeTree(source, deskPackage("New."));
    await plugins.update("front-desk");
    expect(folders()).toContain(old);
    utimesSync(join(dir, "front-desk", old), new Date(0), new Date(0));
    await plugins.setServer("front-desk", "stock", true);
    expect(folders()).toHaveLength(1);
    expect(folders()).not.toContain(old);
  });

  test("a package that takes another name at an update is refused", async () => {
    const { plugins } = place();
    const source = newFolder();
    writeTree(source, deskPackage());
    await plugins.add(source);
    writeTree(source, { ".claude-plugin/plugin.json": '{"name": "other"}' });
    expect(await plugins.update("front-desk")).toMatchObject({
      ok: false,
      text: expect.stringContaining("calls itself other"),
    });
    expect(await plugins.update("nobody")).toMatchObject({
      ok: false,
      text: expect.stringContaining("Installed: front-desk"),
    });
  });

  test("several processes at once lose nothing, and a reader never sees half a version", async () => {
    const { dir, plugins } = place();
    const sources = Array.from({ length: 6 }, (_none, i) => {
      const source = newFolder();
      writeTree(source, { "plugin.json": `{"name": "p${i}"}`, "SKILL.md": skillFile(`s${i}`, "d", "b") });
      return source;
    });
    let reading = true;
    const reader = (async () => {
      const seen: number[] = [];
      while (reading) {
        const { skills, problems } = await findSkills({ workspaceDir: dir, pluginsDir: dir });
        expect(problems).toEqual([]);
        seen.push(skills.length);
      }
      return seen;
    })();
    await Promise.all(sources.map((source) => createPlugins({ dir, cwd: "/", gitEnv: {} }).add(source)));
    reading = false;
    const seen = await reader;
    expect((await plugins.list()).map(({ name }) => name)).toEqual(["p0", "p1", "p2", "p3", "p4", "p5"]);
    expect([...seen].sort((a, b) => a - b)).toEqual(seen);
  });

  test("a lock that a dead process left behind is taken over", async () => {
    const { dir, plugins } = place();
    await changeIndex(dir, (index) => index);
    writeFileSync(join(dir, ".lock"), "1");
    utimesSync(join(dir, ".lock"), new Date(0), new Date(0));
    const source = newFolder();
    writeTree(source, deskPackage());
    expect(await plugins.add(source)).toMatchObject({ ok: true });
  });

  test("the settings decide about their own plugins: new ones come, changed folders are read again, what is gone goes, others stay", async () => {
    const { plugins } = place();
    const [one, two, own] = [newFolder(), newFolder(), newFolder()];
    const pack = (folder: string, name: string, text = "b") =>
      writeTree(folder, { "plugin.json": `{"name": "${name}"}`, "SKILL.md": skillFile(name, "d", text) });
    pack(one, "one");
    pack(two, "two");
    pack(own, "own");
    await plugins.add(own);
    await plugins.sync([one, two, "/nowhere"]);
    expect((await plugins.list()).map(({ name }) => name)).toEqual(["one", "own", "two"]);
    expect(await plugins.failed()).toMatchObject([
      { source: "/nowhere", text: expect.stringContaining("there is no folder") },
    ]);
    pack(two, "two", "changed");
    expect(await plugins.sync([two])).toMatchObject([{ outcome: { ok: true, changed: true } }]);
    expect((await plugins.list()).map(({ name }) => name)).toEqual(["own", "two"]);
    expect(await plugins.failed()).toEqual([]);
  });

  test("links in a folder are left out, and a folder with too many files is refused", async () => {
    const { dir, plugins } = place();
    const source = newFolder();
    writeTree(source, deskPackage());
    symlinkSync("/etc/passwd", join(source, "skills", "refunds", "references", "passwd"));
    expect(await plugins.add(source)).toMatchObject({ ok: true });
    expect(filesIn(dir).filter((path) => path.endsWith("passwd"))).toEqual([]);
    const huge = newFolder();
    writeTree(huge, Object.fromEntries(Array.from({ length: 5001 }, (_none, i) => [`f${i}`, ""])));
    expect(await plugins.add(huge)).toMatchObject({ ok: false, text: expect.stringContaining("more than 5000 files") });
  });
});

describe("servers", () => {
  test("are off until enabled, have their package's folder filled in, and are off again when their definition or program changes", async () => {
    const { dir, plugins } = place();
    const source = newFolder();
    writeTree(source, deskPackage());
    await plugins.add(source);
    expect((await listPluginServers(dir)).map(({ name, plugin, enabled }) => ({ name, plugin, enabled }))).toEqual([
      { name: "orders", plugin: "front-desk", enabled: false },
      { name: "stock", plugin: "front-desk", enabled: false },
    ]);
    expect(await plugins.setServer("front-desk", "none", true)).toMatchObject({
      ok: false,
      text: expect.stringContaining("orders, stock"),
    });
    await plugins.setServer("front-desk", "orders", true);
    await plugins.setServer("front-desk", "stock", true);
    const enabled = async () => (await listPluginServers(dir)).filter((one) => one.enabled).map(({ name }) => name);
    expect(await enabled()).toEqual(["orders", "stock"]);
    const [orders] = await listPluginServers(dir);
    expect(existsSync(orders?.definition.args?.[0] ?? "")).toBe(true);
    // Another skill: the program in the package may be another one too, the remote server is the same.
    writeTree(source, { "servers/orders.mjs": "something else" });
    await plugins.update("front-desk");
    expect(await enabled()).toEqual(["stock"]);
    writeTree(source, { ".mcp.json": '{"mcpServers": {"stock": {"url": "https://elsewhere.example.com"}}}' });
    await plugins.update("front-desk");
    expect(await enabled()).toEqual([]);
    await plugins.setServer("front-desk", "stock", true);
    await plugins.setServer("front-desk", "stock", false);
    expect(await enabled()).toEqual([]);
  });
});
