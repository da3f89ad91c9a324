/** Which pictures reach a model, and what stands in place of the others. */

import { expect, test } from "vitest";
import type { FileRef } from "../../../src/engine/file-ref.ts";
import type { ModelMessage } from "../../../src/engine/model/model.ts";
import { imageKey, loadImages } from "../../../src/engine/model/model-images.ts";

const MB = 1024 * 1024;

function picture(name: string, more: Partial<FileRef> = {}): FileRef {
  return { sha256: name, ext: "png", name, mediaType: "image/png", size: 10, ...more };
}

async function load(
  files: readonly FileRef[],
  readImage = async (file: FileRef): Promise<Uint8Array | null> => Buffer.from(file.name),
) {
  const messages: ModelMessage[] = files.map((file) => ({ role: "user", text: "", images: [file] }));
  const loaded = await loadImages(messages, readImage, false);
  return files.map((_, i) => {
    const image = loaded.get(imageKey(i, 0));
    return image && "bytes" in image ? "shown" : image?.note;
  });
}

test("a stored picture is shown", async () => {
  expect(await load([picture("a")])).toEqual(["shown"]);
});

for (const [what, file, why] of [
  ["too large", picture("a", { size: 5 * MB }), "larger than"],
  ["of a type models do not know", picture("a", { mediaType: "image/avif" }), "cannot see image/avif"],
  ["still on its way", picture("a", { state: "pending" }), "not arrived"],
  ["lost", picture("a", { state: "failed" }), "could not be fetched"],
] as const) {
  test(`a picture that is ${what} is left out with a note`, async () => {
    expect((await load([file]))[0]).toContain(why);
  });
}

test("a picture that is gone from storage is left out with a note", async () => {
  expect((await load([picture("a")], async () => null))[0]).toContain("could not be read");
});

test("a storage error does not fail the step", async () => {
  const notes = await load([picture("a")], async () => {
    throw new Error("disk");
  });
  expect(notes[0]).toContain("could not be read");
});

test("of very many pictures the newest are shown, and old ones drop out in blocks", async () => {
  const shown = async (count: number) =>
    (await load(Array.from({ length: count }, (_, i) => picture(`p${i}`)))).map((one) => one === "shown");
  expect((await shown(20)).every(Boolean)).toBe(true);
  expect((await shown(21)).indexOf(true)).toBe(10);
  expect((await shown(30)).indexOf(true)).toBe(10);
  expect((await shown(31)).indexOf(true)).toBe(20);
});

test("of very large pictures the newest are shown", async () => {
  const files = Array.from({ length: 6 }, (_, i) => picture(`p${i}`, { size: 3 * MB }));
  expect((await load(files)).map((one) => one === "shown")).toEqual([false, false, true, true, true, true]);
});
