/** The files the demo model shows. */

import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inflateSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { createDemoFiles } from "../../../src/engine/model/demo-files.ts";

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "demo-files-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

test("the demo's files are real pictures and a document", async () => {
  const files = await createDemoFiles(join(await folder(), "demo"));
  expect(files.images.length).toBeGreaterThanOrEqual(3);
  for (const { url, alt } of files.images) {
    const bytes = await readFile(fileURLToPath(url));
    const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
    const data = bytes.subarray(41, 41 + bytes.readUInt32BE(33));
    expect(alt).not.toBe("");
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
    expect(inflateSync(data)).toHaveLength((width * 3 + 1) * height);
  }
  expect(await readFile(fileURLToPath(files.document.url), "utf8")).toContain("# Demo notes");
});

test("files that are in place are not written again", async () => {
  const dir = await folder();
  const first = await createDemoFiles(dir);
  const path = fileURLToPath(first.images[0]?.url ?? "");
  const before = (await stat(path)).mtimeMs;
  expect(await createDemoFiles(dir)).toEqual(first);
  expect((await stat(path)).mtimeMs).toBe(before);
});
