/** The contract of stored bytes, run over the folder store (SPEC M6). */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TransferError } from "../../../src/engine/download.ts";
import type { BlobId, Blobs, PutOptions } from "../../../src/engine/store/blobs.ts";
import { createFolderBlobs } from "../../../src/engine/store/folder-blobs.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const MP4 = Buffer.concat([Buffer.from("00000018667479706d703432000000006d70343269736f6d", "hex"), Buffer.alloc(4000)]);
const LIMIT: PutOptions = { maxBytes: 1_000_000 };

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "parley-blobs-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function* stream(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

async function putFile(blobs: Blobs, content: string | Uint8Array, options: Partial<PutOptions> = {}) {
  const result = await blobs.put(stream(content), { ...LIMIT, ...options });
  if (!result.ok) throw new Error(result.text);
  return result.file;
}

async function readBlob(blobs: Blobs, id: BlobId, range?: { start: number; end?: number }): Promise<string | null> {
  const opened = await blobs.open(id, range);
  if (opened === null) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of opened.stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("latin1");
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Every implementation of Blobs passes these. */
function testBlobs(name: string, create: () => Promise<Blobs>): void {
  describe(`${name} as a blob store`, () => {
    test("what was put can be read again, under the hash of its bytes", async () => {
      const blobs = await create();
      const file = await putFile(blobs, "hello", { fileName: "note.md" });
      expect(file).toEqual({ sha256: sha256("hello"), ext: "md", size: 5, mediaType: "text/markdown" });
      expect(await readBlob(blobs, file)).toBe("hello");
      expect(await blobs.stat(file)).toEqual({ size: 5, mediaType: "text/markdown" });
    });

    test("a part can be read, both ends included", async () => {
      const blobs = await create();
      const file = await putFile(blobs, "0123456789");
      expect(await readBlob(blobs, file, { start: 2, end: 4 })).toBe("234");
      expect(await readBlob(blobs, file, { start: 7 })).toBe("789");
    });

    test("equal content put at the same time by many is stored once and whole", async () => {
      const blobs = await create();
      const content = "x".repeat(200_000);
      const files = await Promise.all(Array.from({ length: 20 }, () => putFile(blobs, content)));
      expect(new Set(files.map((file) => file.sha256)).size).toBe(1);
      expect((await readBlob(blobs, files[0] as BlobId))?.length).toBe(200_000);
    });

    test("exactly the limit is stored, one byte more is refused", async () => {
      const blobs = await create();
      expect(await blobs.put(stream("12345"), { maxBytes: 5 })).toMatchObject({ ok: true });
      expect(await blobs.put(stream("123456"), { maxBytes: 5 })).toMatchObject({ ok: false, reason: "too-large" });
    });

    test("a real video may be larger, something else called a video may not", async () => {
      const blobs = await create();
      const limits = { maxBytes: 100, maxVideoBytes: 10_000, fileName: "clip.mp4" };
      expect(await blobs.put(stream(MP4), limits)).toMatchObject({ ok: true, file: { mediaType: "video/mp4" } });
      expect(await blobs.put(stream("text ".repeat(100)), limits)).toMatchObject({ ok: false, reason: "too-large" });
      expect(await blobs.put(stream(MP4, MP4, MP4), limits)).toMatchObject({ ok: false, reason: "too-large" });
    });

    test("a source is closed when the store stops reading it", async () => {
      const blobs = await create();
      let isClosed = false;
      async function* endless() {
        try {
          for (;;) yield Buffer.alloc(1000);
        } finally {
          isClosed = true;
        }
      }
      expect(await blobs.put(endless(), { maxBytes: 5000 })).toMatchObject({ ok: false, reason: "too-large" });
      expect(isClosed).toBe(true);
    });

    test("a download that breaks off passes on why, and nothing is stored", async () => {
      const blobs = await create();
      async function* broken() {
        yield Buffer.from("half");
        throw new TransferError("too-slow", "files.example stalled.");
      }
      expect(await blobs.put(broken(), LIMIT)).toEqual({
        ok: false,
        reason: "too-slow",
        text: "files.example stalled.",
      });
      expect(await blobs.stat({ sha256: sha256("half"), ext: "txt" })).toBeNull();
    });

    test("a source that fails for an unknown reason is a readable refusal", async () => {
      const blobs = await create();
      async function* broken() {
        yield Buffer.from("half");
        throw new Error("secret detail");
      }
      const result = await blobs.put(broken(), LIMIT);
      expect(result).toMatchObject({ ok: false, reason: "source" });
      expect(JSON.stringify(result)).not.toContain("secret detail");
    });

    test("names are labels: a crafted one stores nothing elsewhere", async () => {
      const blobs = await create();
      for (const fileName of [
        "../../x.txt",
        "/etc/cron.d/x.txt",
        "a\0b.txt",
        "..\\..\\x.txt",
        "x.t/../xt",
        "$(id).txt",
      ]) {
        const file = await putFile(blobs, `for ${encodeURI(fileName)}`, { fileName });
        expect(file.ext).toBe("txt");
        expect(await readBlob(blobs, file)).toBe(`for ${encodeURI(fileName)}`);
      }
    });

    test("an id that is really a path finds nothing", async () => {
      const blobs = await create();
      const hash = "a".repeat(64);
      for (const id of [
        { sha256: "../../../etc/passwd", ext: "txt" },
        { sha256: hash, ext: "../../x" },
        { sha256: hash, ext: "t\0xt" },
        { sha256: hash, ext: "" },
        { sha256: hash.toUpperCase(), ext: "txt" },
        { sha256: hash, ext: "txt" },
      ]) {
        expect(await blobs.open(id)).toBeNull();
        expect(await blobs.stat(id)).toBeNull();
        await blobs.remove(id);
      }
    });

    test("a picture keeps its type whatever it is called", async () => {
      const blobs = await create();
      expect(await putFile(blobs, PNG, { fileName: "photo.jpg" })).toMatchObject({
        ext: "png",
        mediaType: "image/png",
      });
      expect(await putFile(blobs, PNG)).toMatchObject({ ext: "png", mediaType: "image/png" });
    });

    test("a sign-in page under the name of a picture is refused", async () => {
      const blobs = await create();
      const page = "<!DOCTYPE html><html><title>Sign in</title></html>";
      const result = await blobs.put(stream(page), { ...LIMIT, fileName: "photo.png" });
      expect(result).toMatchObject({ ok: false, reason: "mismatch" });
    });

    test("removed content is gone", async () => {
      const blobs = await create();
      const file = await putFile(blobs, "private");
      await blobs.remove(file);
      expect(await blobs.open(file)).toBeNull();
    });
  });
}

testBlobs("a folder", () => createFolderBlobs({ dir }));

describe("the folder itself", () => {
  const filesIn = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());

  test("equal content lies there once, and no drafts stay behind", async () => {
    const blobs = await createFolderBlobs({ dir });
    await putFile(blobs, "same", { fileName: "a.txt" });
    await putFile(blobs, "same", { fileName: "b.txt" });
    await blobs.put(stream("far too large"), { maxBytes: 3 });
    expect(filesIn(dir).map((entry) => entry.name)).toEqual([`${sha256("same")}.txt`]);
  });

  test("drafts a crash left behind are cleared at start, running ones are not", async () => {
    mkdirSync(join(dir, ".incoming"));
    const [old, fresh] = [join(dir, ".incoming", "old.part"), join(dir, ".incoming", "fresh.part")];
    writeFileSync(old, "half");
    writeFileSync(fresh, "half");
    utimesSync(old, new Date(0), new Date(0));
    await createFolderBlobs({ dir });
    expect(existsSync(old)).toBe(false);
    expect(existsSync(fresh)).toBe(true);
  });

  test("a link planted under a file's name is not followed, and gives way to the real bytes", async () => {
    const blobs = await createFolderBlobs({ dir });
    const id = { sha256: sha256("bytes"), ext: "txt" };
    mkdirSync(join(dir, id.sha256.slice(0, 2)));
    symlinkSync("/etc/passwd", join(dir, id.sha256.slice(0, 2), `${id.sha256}.txt`));
    expect(await blobs.open(id)).toBeNull();
    await putFile(blobs, "bytes");
    expect(await readBlob(blobs, id)).toBe("bytes");
  });

  test("a link planted in place of a subfolder leads nowhere", async () => {
    const blobs = await createFolderBlobs({ dir });
    const outside = mkdtempSync(join(tmpdir(), "parley-outside-"));
    const id = { sha256: sha256("bytes"), ext: "txt" };
    writeFileSync(join(outside, `${id.sha256}.txt`), "planted");
    symlinkSync(outside, join(dir, id.sha256.slice(0, 2)));
    expect(await blobs.open(id)).toBeNull();
    expect(await blobs.put(stream("bytes"), LIMIT)).toMatchObject({ ok: false, reason: "storage" });
    await blobs.remove(id);
    expect(existsSync(join(outside, `${id.sha256}.txt`))).toBe(true);
    rmSync(outside, { recursive: true });
  });

  test("large content passes through without being held in memory", async () => {
    const blobs = await createFolderBlobs({ dir });
    const chunk = Buffer.alloc(1024 * 1024, "line of text\n");
    async function* large() {
      for (let i = 0; i < 120; i += 1) yield chunk;
    }
    const before = process.memoryUsage();
    const file = await blobs.put(large(), { maxBytes: 200 * 1024 * 1024, fileName: "big.log" });
    const grown = process.memoryUsage().arrayBuffers - before.arrayBuffers;
    expect(file).toMatchObject({ ok: true, file: { size: 120 * 1024 * 1024, ext: "log" } });
    expect(grown).toBeLessThan(60 * 1024 * 1024);
  });

  test("an archive keeps its kind", async () => {
    const blobs = await createFolderBlobs({ dir });
    expect(await putFile(blobs, gzipSync("x".repeat(100)), { fileName: "a.tar.gz" })).toMatchObject({ ext: "gz" });
  });
});
