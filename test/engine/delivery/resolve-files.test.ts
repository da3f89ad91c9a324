/** From addresses a model names to stored bytes: what is told when a file cannot be had, and what becomes a link (SPEC M5, M6). */
import { describe, expect, test } from "vitest";
import { createFileResolver, resolveContent } from "../../../src/engine/delivery/resolve-files.ts";
import type { Download } from "../../../src/engine/download.ts";
import type { Blobs } from "../../../src/engine/store/blobs.ts";

type Put = { readonly name: string | undefined; readonly mediaType: string | undefined; readonly text: string };

async function* bytesOf(text: string) {
  yield new TextEncoder().encode(text);
}

/** A resolver over a web and a workspace given as tables; bytes "too large" do not fit. */
function resolverOf(
  web: Record<string, { mediaType: string; text: string } | string>,
  files: Record<string, string> = {},
) {
  const puts: Put[] = [];
  const cancelled: string[] = [];
  const fetched: string[] = [];
  const blobs = {
    put: async (source: AsyncIterable<Uint8Array>, facts: { fileName?: string; mediaType?: string }) => {
      let text = "";
      for await (const part of source) text += new TextDecoder().decode(part);
      puts.push({ name: facts.fileName, mediaType: facts.mediaType, text });
      if (text === "too large") return { ok: false, reason: "too-large", text: "The file is larger than 25 MiB." };
      const mediaType = facts.mediaType ?? (facts.fileName?.endsWith(".png") ? "image/png" : "text/plain");
      return {
        ok: true,
        file: {
          sha256: "a".repeat(64),
          ext: mediaType === "text/plain" ? "txt" : (mediaType.split("/")[1] ?? "bin"),
          name: "x",
          mediaType,
          size: text.length,
        },
      };
    },
  } as unknown as Blobs;
  const guardedFetch = async (url: string) => {
    fetched.push(url);
    const found = web[url];
    if (found === undefined || typeof found === "string")
      return { ok: false, reason: "status", text: found ?? "example.com answered 404." } as unknown as Download;
    return {
      ok: true,
      mediaType: found.mediaType,
      body: bytesOf(found.text),
      cancel: () => void cancelled.push(url),
    } as unknown as Download;
  };
  const open = async (url: string) => {
    const text = files[url];
    return text === undefined
      ? { ok: false, text: "That file is outside the workspace." }
      : { ok: true, stream: bytesOf(text), fileName: url.split("/").pop() };
  };
  const resolver = createFileResolver({ roots: { open } as never, guardedFetch: guardedFetch as never, blobs });
  return { resolver, puts, cancelled, fetched };
}

const signal = new AbortController().signal;
const png = { mediaType: "image/png", text: "png" };

describe("an attachment", () => {
  test("on the web is stored under the last part of its path, with its description", async () => {
    const { resolver, puts } = resolverOf({ "https://a.example/x/my%20cat.png?sig=1": png });
    const found = await resolveContent(
      resolver,
      { type: "attachment", file: { url: "https://a.example/x/my%20cat.png?sig=1", alt: "A cat" } },
      signal,
    );
    expect(found).toMatchObject({
      ok: true,
      content: { type: "attachment", file: { name: "my cat.png", mediaType: "image/png", alt: "A cat" } },
    });
    expect(puts).toEqual([{ name: "my cat.png", mediaType: "image/png", text: "png" }]);
  });

  test("in the workspace is stored, whatever the case of its scheme", async () => {
    for (const url of ["file:///workspace/a.txt", "FILE:///workspace/a.txt"]) {
      const { resolver, fetched } = resolverOf({}, { [url]: "words" });
      expect(await resolveContent(resolver, { type: "attachment", file: { url } }, signal)).toMatchObject({
        ok: true,
        content: { file: { name: "a.txt" } },
      });
      expect(fetched).toEqual([]);
    }
  });

  test.each<[string, string, RegExp]>([
    ["outside the workspace", "file:///etc/passwd", /^url: That file is outside/],
    ["that the web refuses", "https://a.example/none", /^url: example\.com answered 404/],
    ["that is too large", "https://a.example/big.bin", /^url: The file is larger/],
  ])("%s is an error that names the field", async (_name, url, text) => {
    const { resolver } = resolverOf({
      "https://a.example/big.bin": { mediaType: "application/zip", text: "too large" },
    });
    expect(await resolveContent(resolver, { type: "attachment", file: { url } }, signal)).toMatchObject({
      ok: false,
      text: expect.stringMatching(text),
    });
  });

  test.each([
    [undefined, "https://a.example/page"],
    ["The page", "The page: https://a.example/page"],
  ])("that is a web page becomes a link, and the page is not read", async (alt, content) => {
    const { resolver, cancelled, puts } = resolverOf({
      "https://a.example/page": { mediaType: "text/html", text: "<html>" },
    });
    const found = await resolveContent(
      resolver,
      { type: "attachment", file: { url: "https://a.example/page", ...(alt ? { alt } : {}) } },
      signal,
    );
    expect(found).toEqual({ ok: true, content: { type: "text", content, images: [] } });
    expect([cancelled, puts]).toEqual([["https://a.example/page"], []]);
  });

  test.each([
    ["https://a.example", "file"],
    ["https://a.example/dir/", "file"],
    ["https://a.example/%E0%A4%A.png", "%E0%A4%A"],
    ["https://a.example/..%2f..%2fetc", "etc"],
  ])("%s gets a harmless name", async (url, name) => {
    const found = await resolverOf({ [url]: png }).resolver.resolve({ url }, "url", signal);
    const given = found.ok && "file" in found ? found.file.name : "";
    expect(given).toContain(name);
    expect(given).not.toMatch(/[/\\]/);
  });
});

describe("pictures of a text", () => {
  const text = (...urls: string[]) => ({
    type: "text" as const,
    content: "look",
    images: urls.map((url) => ({ url })),
  });

  test("keep their order", async () => {
    const { resolver } = resolverOf({ "https://a.example/1.png": png, "https://a.example/2.png": png });
    const found = await resolveContent(resolver, text("https://a.example/2.png", "https://a.example/1.png"), signal);
    expect(found).toMatchObject({ content: { content: "look", images: [{ name: "2.png" }, { name: "1.png" }] } });
  });

  test("that are wrong are all named, each in its own words", async () => {
    const { resolver } = resolverOf({
      "https://a.example/1.png": png,
      "https://a.example/page": { mediaType: "text/html", text: "" },
      "https://a.example/x.zip": { mediaType: "application/zip", text: "zip" },
    });
    const found = await resolveContent(
      resolver,
      text("https://a.example/none", "https://a.example/1.png", "https://a.example/page", "https://a.example/x.zip"),
      signal,
    );
    expect(found.ok ? [] : found.text.split("\n")).toEqual([
      expect.stringMatching(/^images\[0\]\.url: example\.com answered 404/),
      expect.stringMatching(/^images\[2\]\.url is a web page, not a picture/),
      expect.stringMatching(/^images\[3\]\.url is application\/zip, not a picture/),
    ]);
  });

  test("may be none", async () => {
    expect(await resolveContent(resolverOf({}).resolver, text(), signal)).toEqual({
      ok: true,
      content: { type: "text", content: "look", images: [] },
    });
  });
});

describe("a text kept as a file", () => {
  test("holds every byte of it", async () => {
    const { resolver, puts } = resolverOf({});
    await resolver.storeText("ümläut 👍\n", "message.md");
    expect(puts[0]).toMatchObject({ name: "message.md", text: "ümläut 👍\n" });
  });

  test("that cannot be kept is an error, never silence", async () => {
    await expect(resolverOf({}).resolver.storeText("too large", "message.md")).rejects.toThrow("could not be stored");
  });
});
