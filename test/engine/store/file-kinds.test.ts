/** What a file is, by its bytes and its name (SPEC M6). */
import { describe, expect, test } from "vitest";
import { type ByteFacts, decideKind, type FileClaim } from "../../../src/engine/store/file-kinds.ts";
import { extensionOf, toFileLabel } from "../../../src/engine/store/file-names.ts";
import { sniffHead } from "../../../src/engine/store/sniff.ts";

const PAGE = "<!doctype html><html><body>Sign in</body></html>";
const NOISE = Buffer.from(Array.from({ length: 400 }, (_, i) => (i * 89 + 3) % 256));

async function kindOf(content: string | Uint8Array, claim: FileClaim | string = {}, sniffed?: ByteFacts["sniffed"]) {
  const head = Buffer.from(content);
  const facts = { head, size: head.length, sniffed: sniffed ?? (await sniffHead(head)) };
  const kind = decideKind(facts, typeof claim === "string" ? { fileName: claim } : claim);
  return kind.ok ? `${kind.ext} ${kind.mediaType}` : kind.reason;
}

describe("text is known by its name", () => {
  test.each([
    ["a,b\n1,2", "table.CSV", "csv text/csv"],
    ["# Title", "README.markdown", "md text/markdown"],
    ['{"a":1}', "data.json", "json application/json"],
    ["print(1)", "tool.py", "py text/plain"],
    ["plain", "", "txt text/plain"],
    ["plain", "notes", "txt text/plain"],
    ["odd", "thing.xyz", "xyz text/plain"],
    ["BM is how this text starts", "notes.txt", "txt text/plain"],
    ["MZ is how this text starts", "notes.md", "md text/markdown"],
    ['<?xml version="1.0"?><svg xmlns="x"/>', "logo.svg", "svg image/svg+xml"],
    ["caf\u00e9", "menu.txt", "txt text/plain"],
    [Buffer.from("caf\u00e9 au lait et croissant", "latin1"), "menu.txt", "txt text/plain"],
    ["BEGIN:VCALENDAR\nEND:VCALENDAR", "a.ics", "ics text/calendar"],
    [`<?php echo 1 ?>`, "index.php", "php text/plain"],
    [Buffer.from("\ufeffa\tb\n", "utf16le"), "table.csv", "csv text/csv"],
    ["\u001b[31mred\u001b[0m", "run.log", "log text/plain"],
    ["", "empty.txt", "txt text/plain"],
  ])("%j called %j is %s", async (content, name, expected) => {
    expect(await kindOf(content, name)).toBe(expected);
  });
});

describe("a web page is never passed off as something else", () => {
  test.each(["photo.png", "report.pdf", "clip.mp4", "data.csv", "data.json", "song.mp3", "deck.pptx", "thing.xyz"])(
    "under the name %s it is refused",
    async (name) => {
      expect(await kindOf(PAGE, name)).toBe("mismatch");
    },
  );

  test.each(["page.html", "page.HTM", "", "download", "notes.txt", "notes.md"])(
    "under the name %j it is html",
    async (name) => {
      expect(await kindOf(PAGE, name)).toBe("html text/html");
    },
  );

  test("a claimed media type counts like a name", async () => {
    expect(await kindOf(PAGE, { mediaType: "image/png" })).toBe("mismatch");
    expect(await kindOf(PAGE, { mediaType: "text/html; charset=utf-8" })).toBe("html text/html");
  });

  test("space, comments and a byte order mark before the page hide nothing", async () => {
    expect(await kindOf(`\ufeff\n<!-- hello --> \n${PAGE}`, "photo.png")).toBe("mismatch");
    expect(await kindOf(`<?xml version="1.0"?>\n${PAGE}`, "photo.png")).toBe("mismatch");
    expect(await kindOf(Buffer.from(`\ufeff${PAGE}`, "utf16le"), "photo.png")).toBe("mismatch");
  });

  test("a template may begin like a page", async () => {
    expect(await kindOf(PAGE, "view.vue")).toBe("vue text/plain");
  });
});

describe("bytes win over names", () => {
  test.each([
    ["%PDF-1.7\n1 0 obj", "notes.txt", "pdf application/pdf"],
    ["%PDF-1.7\n1 0 obj", "", "pdf application/pdf"],
    ["error: expired", "photo.png", "mismatch"],
    ["error: expired", "report.docx", "mismatch"],
    [NOISE, "photo.png", "mismatch"],
    [NOISE, "report.pdf", "mismatch"],
    [NOISE, "model.onnx", "onnx application/octet-stream"],
    [NOISE, "notes.txt", "bin application/octet-stream"],
    [NOISE, "", "bin application/octet-stream"],
    ["", "photo.png", "empty"],
  ])("%j called %j is %s", async (content, name, expected) => {
    expect(await kindOf(content, name)).toBe(expected);
  });

  test("a package is told from a plain archive by its name, a document is not", async () => {
    const zip = { ext: "zip", mediaType: "application/zip" };
    expect(await kindOf(NOISE, "design.sketch", zip)).toBe("sketch application/zip");
    expect(await kindOf(NOISE, "report.docx", zip)).toBe("zip application/zip");
    expect(await kindOf(NOISE, "photo.png", zip)).toBe("zip application/zip");
    expect(await kindOf(NOISE, "old.xls", { ext: "cfb", mediaType: "application/x-cfb" })).toBe(
      "xls application/vnd.ms-excel",
    );
  });
});

test.each([
  ["report.PDF", "pdf"],
  ["a.tar.gz", "gz"],
  [".env", ""],
  ["noext", ""],
  ["x.p d f", ""],
  ["../../etc/x.txt", "txt"],
  ["x.verylongextension", ""],
])("the extension of %j is %j", (name, ext) => {
  expect(extensionOf(name)).toBe(ext);
});

test.each([
  ["../../etc/passwd", "txt", "passwd.txt"],
  ["C:\\Users\\ada\\photo.jpeg", "jpg", "photo.jpeg"],
  ["photo.jpg", "png", "photo.jpg.png"],
  ["a\0b\n\u202egpj.exe", "exe", "abgpj.exe"],
  ["", "png", "file.png"],
  ["...", "png", "file.png"],
  [`${"x".repeat(300)}.pdf`, "pdf", `${"x".repeat(116)}.pdf`],
])("the label of %j stored as %s is %j", (name, ext, label) => {
  expect(toFileLabel(name, ext)).toBe(label);
});
