/** Which `file://` addresses a bot may send, and every way out of its folders (SPEC M5). */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFileRoots, type FileRoots } from "../../../src/engine/delivery/file-roots.ts";

let base: string;
let workspace: string;
let roots: FileRoots;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-roots-")));
  workspace = join(base, "workspace");
  mkdirSync(join(workspace, "sub"), { recursive: true });
  mkdirSync(join(base, "database"));
  writeFileSync(join(workspace, "report.txt"), "report");
  writeFileSync(join(base, "outside.txt"), "outside");
  writeFileSync(join(base, "vault-key"), "the key");
  roots = createFileRoots({
    roots: [{ path: workspace, seenAs: "/workspace" }, { path: join(base, "attachments") }],
    secretPaths: [join(base, "vault-key"), join(base, "database"), join(workspace, "settings")],
  });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function read(url: string): Promise<string> {
  const opened = await roots.open(url);
  if (!opened.ok) return opened.reason;
  const chunks: Buffer[] = [];
  for await (const chunk of opened.stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Whether it opens, without reading it; else the reason. */
async function probe(url: string, maxBytes?: number, from = roots): Promise<string> {
  const opened = await from.open(url, maxBytes === undefined ? {} : { maxBytes });
  if (!opened.ok) return opened.reason;
  opened.stream.destroy();
  return "opened";
}

const urlOf = (...parts: string[]) => pathToFileURL(join(...parts)).href;

describe("files inside the roots", () => {
  test("a file in the workspace is opened, with its name and size", async () => {
    const opened = await roots.open(urlOf(workspace, "report.txt"));
    expect(opened).toMatchObject({ ok: true, fileName: "report.txt", size: 6 });
    if (opened.ok) opened.stream.destroy();
    expect(await read(urlOf(workspace, "report.txt"))).toBe("report");
  });

  test("the path the bot knows leads to the same file", async () => {
    expect(await read("file:///workspace/report.txt")).toBe("report");
    expect(await read("file://localhost/workspace/report.txt")).toBe("report");
  });

  test("names with spaces, accents and percent signs work when encoded", async () => {
    writeFileSync(join(workspace, "é 100%#1?.txt"), "odd");
    expect(await read(urlOf(workspace, "é 100%#1?.txt"))).toBe("odd");
  });

  test("a link inside the workspace to a file inside the workspace is followed", async () => {
    symlinkSync(join(workspace, "report.txt"), join(workspace, "latest"));
    expect(await read("file:///workspace/latest")).toBe("report");
  });

  test("a root that is itself a link works", async () => {
    symlinkSync(workspace, join(base, "attachments"));
    expect(await read(urlOf(base, "attachments", "report.txt"))).toBe("report");
  });

  test("a missing file is said to be missing", async () => {
    expect(await read("file:///workspace/none.txt")).toBe("not-found");
    expect(await read(urlOf(base, "attachments", "none.txt"))).toBe("not-found");
  });

  test("a file over the limit is refused", async () => {
    expect(await probe("file:///workspace/report.txt", 6)).toBe("opened");
    expect(await probe("file:///workspace/report.txt", 5)).toBe("too-large");
  });
});

describe("addresses that are refused", () => {
  test.each([
    ["file:///workspace/../outside.txt", "traversal"],
    ["file:///workspace/sub/../report.txt", "traversal"],
    ["file:///workspace/%2e%2e/outside.txt", "traversal"],
    ["file:///workspace/.%2E/outside.txt", "traversal"],
    ["file:///workspace/..%2foutside.txt", "traversal"],
    ["file:///workspace/..%5coutside.txt", "traversal"],
    ["file:///workspace\\..\\outside.txt", "traversal"],
    ["file:///workspace/..?x", "traversal"],
    ["file:///workspace/%252e%252e/outside.txt", "not-found"],
    ["file:///workspace/report.txt%00.png", "bad-url"],
    ["file:///workspace/report.txt\0.png", "bad-url"],
    ["file:///workspace/report.txt?x=1", "bad-url"],
    ["file:///workspace/report.txt#part", "bad-url"],
    ["file:///workspace/100%.txt", "bad-url"],
    ["file://evil.example/workspace/report.txt", "bad-url"],
    ["file://report.txt", "bad-url"],
    ["file:report.txt", "bad-url"],
    ["/workspace/report.txt", "bad-url"],
    ["https://example.com/x", "bad-url"],
    ["file:///etc/passwd", "outside"],
    ["file:///etc/none", "outside"],
    ["file:///workspace-other/report.txt", "outside"],
    ["file:///proc/self/environ", "outside"],
    ["file:///dev/zero", "outside"],
    ["file:///", "outside"],
    ["file:///workspace", "outside"],
    ["file:///workspace/sub", "directory"],
    ["file:///workspace/sub/", "directory"],
  ])("%j is refused as %s", async (url, reason) => {
    expect(await read(url)).toBe(reason);
  });

  test("the refusal names the folders that may be used, as the bot knows them", async () => {
    const refusal = await roots.open("file:///etc/passwd");
    expect(refusal).toMatchObject({ ok: false, text: expect.stringContaining("outside the folders") });
    expect(refusal).toMatchObject({ text: expect.stringContaining("/workspace") });
  });

  test("a link that leads out of the workspace is refused, alone and as a folder", async () => {
    symlinkSync(join(base, "outside.txt"), join(workspace, "inside.txt"));
    symlinkSync(base, join(workspace, "folder"));
    expect(await read("file:///workspace/inside.txt")).toBe("outside");
    expect(await read("file:///workspace/folder/outside.txt")).toBe("outside");
  });

  test("a link cannot be used to find out what exists elsewhere", async () => {
    symlinkSync(join(base, "no-such-file"), join(workspace, "dangling"));
    symlinkSync(base, join(workspace, "folder"));
    expect(await read("file:///workspace/dangling")).toBe("outside");
    expect(await read("file:///workspace/folder/no-such-file")).toBe("outside");
  });

  test("a link that points at itself is refused", async () => {
    symlinkSync(join(workspace, "loop"), join(workspace, "loop"));
    expect(await read("file:///workspace/loop")).toBe("outside");
  });

  test("a pipe is refused without waiting for a writer", async () => {
    execFileSync("mkfifo", [join(workspace, "pipe.txt")]);
    expect(await read("file:///workspace/pipe.txt")).toBe("not-a-file");
  });

  test("a link to a device is refused", async () => {
    symlinkSync("/dev/zero", join(workspace, "zero.bin"));
    expect(await read("file:///workspace/zero.bin")).toBe("outside");
  });

  test.skipIf(process.getuid?.() === 0)("a file without permission is unreadable", async () => {
    chmodSync(join(workspace, "report.txt"), 0o000);
    expect(await read("file:///workspace/report.txt")).toBe("unreadable");
  });
});

describe("secret files", () => {
  test.each([
    ".env",
    ".ENV",
    ".env.local",
    "parley.yaml",
    "parley.yml",
    "server.key",
    "server.PEM",
    "id_rsa",
    "id_ed25519",
    ".netrc",
    ".npmrc",
    "store.p12",
    "sub/.env",
    ".ssh/config",
    ".aws/credentials",
    "settings",
  ])("%s is never sent", async (name) => {
    mkdirSync(join(workspace, name, ".."), { recursive: true });
    writeFileSync(join(workspace, name), "secret");
    expect(await read(urlOf(workspace, name))).toBe("secret");
  });

  test.each([".env.example", "monkey.txt", "id_rsa.pub", "parley.yaml.md", "environment.txt"])(
    "%s is an ordinary file",
    async (name) => {
      writeFileSync(join(workspace, name), "ordinary");
      expect(await read(urlOf(workspace, name))).toBe("ordinary");
    },
  );

  test("a secret under an innocent name is still refused: by link and by hard link", async () => {
    writeFileSync(join(workspace, "server.key"), "secret");
    symlinkSync(join(workspace, "server.key"), join(workspace, "photo.png"));
    linkSync(join(base, "vault-key"), join(workspace, "picture.png"));
    expect(await read("file:///workspace/photo.png")).toBe("secret");
    expect(await read("file:///workspace/picture.png")).toBe("secret");
  });

  test("a file with a second name elsewhere is refused, whatever that name is: it may lie in the database's folder", async () => {
    writeFileSync(join(base, "database", "settings.conf"), "inner settings");
    linkSync(join(base, "database", "settings.conf"), join(workspace, "innocent.txt"));
    expect(await read("file:///workspace/innocent.txt")).toBe("secret");
  });

  test("the database folder is refused even inside a root", async () => {
    writeFileSync(join(base, "database", "1.dat"), "rows");
    const wide = createFileRoots({ roots: [{ path: base }], secretPaths: [join(base, "database")] });
    expect(await probe(urlOf(base, "database", "1.dat"), undefined, wide)).toBe("secret");
    expect(await probe(urlOf(base, "outside.txt"), undefined, wide)).toBe("opened");
  });
});

test("a file exchanged for a link while it is being opened never gives away what the link points to", async () => {
  const path = join(workspace, "race.txt");
  let isRunning = true;
  const swap = async () => {
    for (let i = 0; isRunning; i += 1) {
      const draft = join(workspace, `draft${i % 2}`);
      if (i % 2 === 0) writeFileSync(draft, "inside");
      else symlinkSync(join(base, "leak.txt"), draft);
      renameSync(draft, path);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  writeFileSync(join(base, "leak.txt"), "leaked");
  writeFileSync(path, "inside");
  const swapping = swap();
  const seen = new Set<string>();
  for (let i = 0; i < 400; i += 1) seen.add(await read("file:///workspace/race.txt"));
  isRunning = false;
  await swapping;
  rmSync(path);
  writeFileSync(path, "inside");
  expect(await read("file:///workspace/race.txt")).toBe("inside");
  expect(seen).not.toContain("leaked");
  for (const outcome of seen) expect(["inside", "outside", "changed", "unreadable", "not-found"]).toContain(outcome);
});

test("a folder exchanged for a link while a file in it is being opened never gives away what lies behind", async () => {
  const folder = join(workspace, "folder");
  const elsewhere = join(base, "elsewhere");
  for (const place of [folder, elsewhere]) mkdirSync(place);
  writeFileSync(join(folder, "race.txt"), "inside");
  writeFileSync(join(elsewhere, "race.txt"), "leaked");
  let isRunning = true;
  const swap = async () => {
    while (isRunning) {
      renameSync(folder, join(workspace, "aside"));
      symlinkSync(elsewhere, folder);
      await new Promise((resolve) => setImmediate(resolve));
      unlinkSync(folder);
      renameSync(join(workspace, "aside"), folder);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const swapping = swap();
  const seen = new Set<string>();
  for (let i = 0; i < 1500; i += 1) seen.add(await read("file:///workspace/folder/race.txt"));
  isRunning = false;
  await swapping;
  expect(seen).not.toContain("leaked");
});
