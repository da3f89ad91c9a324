/** Skills as they lie in folders, good and bad: what is a skill, what is reported, and that nothing leads out of a folder. */
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Log } from "../../../src/engine/log.ts";
import { parseSkillFile } from "../../../src/engine/state/skill-file.ts";
import { readTextIn } from "../../../src/engine/state/skill-folder.ts";
import { createSkills, findSkills, pageOf, SKILL_PAGE_CHARS } from "../../../src/engine/state/skills.ts";
import { writeTree } from "../../support/git-server.ts";
import { skillFile } from "../../support/packages.ts";
import { silentLog } from "../store/silent-log.ts";

const made: string[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-skills-"));
  made.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe("the text of a SKILL.md", () => {
  test.each([
    ["plain", "---\nname: a\ndescription: b\n---\nbody", { ok: true, name: "a", description: "b", body: "body" }],
    [
      "windows lines and a byte-order mark",
      "\ufeff---\r\nname: a\r\ndescription: b\r\n---\r\nbody\r\n",
      { ok: true, name: "a", body: "body" },
    ],
    [
      "a folded description",
      "---\nname: a\ndescription: >\n  one\n  two\n---\n",
      { ok: true, description: "one two", body: "" },
    ],
    ["a number as name", "---\nname: 7\ndescription: b\n---\n", { ok: true, name: "7" }],
    [
      "a colon without quotes",
      "---\nname: a\ndescription: Use when: asked\n---\n",
      { ok: true, description: "Use when: asked" },
    ],
    ["unknown keys", "---\nname: a\ndescription: b\nallowed-tools: [x]\nmetadata: {k: v}\n---\n", { ok: true }],
    [
      "a line of dashes in the body",
      "---\nname: a\ndescription: b\n---\none\n---\ntwo",
      { ok: true, body: "one\n---\ntwo" },
    ],
  ])("%s is understood", (_name, text, expected) => {
    expect(parseSkillFile(text)).toMatchObject(expected);
  });

  test.each([
    ["nothing", "", /no front matter/],
    ["no front matter", "# Title\n", /no front matter/],
    ["front matter without an end", "---\nname: a\n", /no front matter/],
    ["empty front matter", "---\n---\nbody", /not a list of name: value/],
    ["broken YAML", "---\nname: [a\ndescription: b\n---\n", /not valid YAML/],
    [
      "a colon without quotes in a list",
      "---\nname: a\ndescription: [use: it: so\n---\n",
      /not valid YAML[\s\S]*quotes/,
    ],
    ["a list", "---\n- a\n---\n", /not a list of name: value/],
    ["no name", "---\ndescription: b\n---\n", /no name/],
    ["a name that is a list", "---\nname: [a]\ndescription: b\n---\n", /no name/],
    ["no description", "---\nname: a\n---\n", /no description/],
    ["an alias bomb", `---\na: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nname: *c\ndescription: b\n---\n`, /aliases/],
    ["endless front matter", `---\nname: a\ndescription: ${"x".repeat(20_000)}\n---\n`, /longer than/],
  ])("%s is one sentence on what to mend", (_name, text, problem) => {
    expect(parseSkillFile(text)).toMatchObject({ ok: false, text: expect.stringMatching(problem) });
  });
});

describe("files of a skill", () => {
  test.each(["../secret", "/etc/passwd", "a/../../secret", "a\\b", "a\0b", "", ".", "a//b", "./a"])(
    "the path %j is refused before anything is opened",
    async (path) => {
      expect(await readTextIn(newFolder(), path)).toMatchObject({
        ok: false,
        reason: expect.stringContaining("not a path inside"),
      });
    },
  );

  test("links of both kinds, folders, pipes and large, binary or missing files are refused, each with its reason", async () => {
    const outside = newFolder();
    writeFileSync(join(outside, "secret"), "secret");
    const folder = newFolder();
    writeTree(folder, { "ok.md": "fine ü", "latin.md": Buffer.from([0xfc, 0x20]), "nul.md": Buffer.from([65, 0, 66]) });
    mkdirSync(join(folder, "sub"));
    symlinkSync(join(outside, "secret"), join(folder, "link.md"));
    symlinkSync(outside, join(folder, "way"));
    linkSync(join(outside, "secret"), join(folder, "hard.md"));
    const reason = async (path: string) => {
      const read = await readTextIn(folder, path, 100);
      return read.ok ? read.text : read.reason;
    };
    expect(await reason("ok.md")).toBe("fine ü");
    expect(await reason("link.md")).toMatch(/leads out/);
    expect(await reason("way/secret")).toMatch(/leads out/);
    expect(await reason("hard.md")).toMatch(/hard link/);
    expect(await reason("sub")).toMatch(/not a file/);
    expect(await reason("nul.md")).toMatch(/not text/);
    expect(await reason("latin.md")).toMatch(/UTF-8/);
    expect(await reason("none.md")).toMatch(/does not exist/);
    writeFileSync(join(folder, "big.md"), "x".repeat(101));
    expect(await reason("big.md")).toMatch(/larger than/);
  });

  test("a long text comes in pages that join to the whole, never in the middle of a character", () => {
    const text = `${"line with words\n".repeat(2000)}${"😀".repeat(12_001)}`;
    let offset: number | undefined = 0;
    let joined = "";
    let pages = 0;
    while (offset !== undefined) {
      const page = pageOf(text, offset);
      expect(page.text.length).toBeLessThanOrEqual(SKILL_PAGE_CHARS + 1);
      expect(page.text.isWellFormed()).toBe(true);
      joined += page.text;
      offset = page.next;
      pages += 1;
    }
    expect(joined).toBe(text);
    expect(pages).toBeGreaterThan(3);
    expect(pageOf(text, 10_000_000)).toEqual({ ok: true, text: "", total: text.length });
  });
});

describe("folders of skills", () => {
  test("good skills are found beside bad ones, in a fixed order, and each bad one is named with its place", async () => {
    const workspaceDir = newFolder();
    writeTree(workspaceDir, {
      "skills/b/SKILL.md": skillFile("Second", "two", "body"),
      "skills/a/SKILL.md": skillFile("First", "one", "body"),
      "skills/c/SKILL.md": skillFile("second", "the same name", "body"),
      "skills/bad name/SKILL.md": skillFile("Third", "three", "body"),
      "skills/none/README.md": "no skill",
      "skills/.hidden/SKILL.md": "",
      "skills/loose.md": "not a folder",
      "bots/ada/skills/own/SKILL.md": skillFile("Own", "Ada's", "body"),
    });
    symlinkSync("/etc", join(workspaceDir, "skills", "way"));
    const { skills, problems } = await findSkills({ workspaceDir, pluginsDir: join(workspaceDir, "plugins") });
    expect(skills.map(({ id }) => id)).toEqual(["private:own", "workspace:a", "workspace:b"]);
    expect(problems.map(({ where }) => where)).toEqual([
      "skills/way",
      "skills/bad name/SKILL.md",
      "skills/c/SKILL.md",
      "skills/none/SKILL.md",
    ]);
  });

  test("what is put there later is known at the next look, a bot's own to that bot alone, and a problem is logged once", async () => {
    const workspaceDir = newFolder();
    const lines: string[] = [];
    const note = (_fields: object, text: string) => void lines.push(text);
    const log: Log = { debug: note, info: () => undefined, warn: note, error: note, child: () => log };
    const library = createSkills({ workspaceDir, pluginsDir: join(workspaceDir, "none"), log });
    await library.refresh();
    expect(library.list("ada")).toEqual([]);
    writeTree(workspaceDir, {
      "skills/a/SKILL.md": skillFile("A", "one", "first"),
      "skills/x/SKILL.md": "bad",
      "bots/ada/skills/own/SKILL.md": skillFile("Own", "Ada's", "body"),
    });
    await library.refresh();
    expect(library.list("ada").map(({ id }) => id)).toEqual(["private:own", "workspace:a"]);
    expect(library.list("bo").map(({ id }) => id)).toEqual(["workspace:a"]);
    expect(await library.read("bo", "private:own", undefined, 0)).toMatchObject({ ok: false });
    expect(await library.read("bo", "workspace:a", undefined, 0)).toMatchObject({ ok: true, text: "first" });
    writeTree(workspaceDir, { "skills/a/SKILL.md": skillFile("A", "one", "second, longer") });
    utimesSync(join(workspaceDir, "skills/a/SKILL.md"), new Date(), new Date(Date.now() + 5000));
    await library.refresh();
    expect(await library.read("bo", "workspace:a", undefined, 0)).toMatchObject({ ok: true, text: "second, longer" });
    await library.refresh();
    expect(lines.filter((line) => line.includes("skills/x/SKILL.md"))).toHaveLength(1);
  });

  test("a damaged index of plugins takes nothing away and is named", async () => {
    const workspaceDir = newFolder();
    const pluginsDir = newFolder();
    writeTree(workspaceDir, { "skills/a/SKILL.md": skillFile("A", "one", "first") });
    const library = createSkills({ workspaceDir, pluginsDir, log: silentLog });
    await library.refresh();
    writeFileSync(
      join(pluginsDir, "installed.json"),
      '{"version": 1, "plugins": [{"name": "../../etc", "content": "../x"}]}',
    );
    await library.refresh();
    expect(library.list("ada").map(({ id }) => id)).toEqual(["workspace:a"]);
    expect(library.problems()).toMatchObject([{ where: "plugins", text: expect.stringContaining("is damaged") }]);
  });
});
