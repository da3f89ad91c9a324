/** Stored secrets are hidden in every spelling, and nothing else is (SPEC C6). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMask } from "../../../src/engine/delivery/mask-secrets.ts";

const SECRET = 's3cr/t+Pa~ss\'w(rd)&"quoted" \\ end';
const UUID = "0b7c2f3e-95a1-4d0f-8a57-1f6f0f3f9b21";
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("every spelling of a secret is blacked out", () => {
  const mask = createMask([SECRET, UUID]);
  test.each([
    ["plain", SECRET],
    ["in JSON", JSON.stringify({ key: SECRET })],
    ["in JSON inside JSON", JSON.stringify({ body: JSON.stringify({ key: SECRET }) })],
    ["in a query", `https://x.example/?key=${encodeURIComponent(SECRET)}&b=1`],
    ["in a query, lower-case escapes", `key=${encodeURIComponent(SECRET).replace(/%../g, (hex) => hex.toLowerCase())}`],
    ["in a form", new URLSearchParams({ key: SECRET }).toString()],
    ["in a path", encodeURI(`https://x.example/${SECRET}`)],
    ["escaped twice", encodeURIComponent(encodeURIComponent(SECRET))],
    ["in base64", base64(SECRET)],
    ["in URL base64", Buffer.from(SECRET).toString("base64url")],
    ["in base64 inside a query", encodeURIComponent(base64(SECRET))],
    ["a UUID echoed by a tool", `X_TOKEN=${UUID}\n`],
  ])("%s", (_name, text) => {
    const masked = mask(`before ${text} after`);
    expect(masked).toContain("[secret]");
    for (const part of ["s3cr", "quoted", UUID, base64(SECRET).slice(4, 20)]) expect(masked).not.toContain(part);
    expect(masked.startsWith("before ")).toBe(true);
    expect(masked.endsWith(" after")).toBe(true);
  });

  test("in base64 together with anything before and after it", () => {
    for (const user of ["", "u", "us", "use", "user"]) {
      for (const tail of ["", "!", "!!", "!!!"]) {
        const encoded = base64(`${user}${UUID}${tail}`);
        const masked = mask(`Authorization: Basic ${encoded}`);
        const rest = masked.replace("[secret]", "").replace("Authorization: Basic ", "");
        expect(rest.length, `${user} ${tail}`).toBeLessThanOrEqual(12);
        expect(masked).toContain("[secret]");
      }
    }
  });

  test("a key file in several lines, whichever line ends it was pasted or printed with", () => {
    const key = "-----BEGIN KEY-----\nAbCdEfGhIjKl\nMnOpQrStUvWx\n-----END KEY-----\n";
    const maskKey = createMask([key]);
    for (const shown of [key, key.trim(), key.replaceAll("\n", "\r\n"), JSON.stringify(key), base64(key.trim())]) {
      expect(maskKey(shown)).not.toMatch(/AbCdEf|QWJDZE/);
    }
  });
});

test("text without secrets comes back unchanged", () => {
  const text = "Nothing here, not even s3cr/t+Pa or a [secret].";
  expect(createMask([SECRET, UUID])(text)).toBe(text);
  expect(createMask([])(text)).toBe(text);
});

test("values shorter than 8 characters are left alone", () => {
  expect(createMask(["abc", "1234567", ""])("abc 1234567")).toBe("abc 1234567");
  expect(createMask(["12345678"])("x12345678x")).toBe("x[secret]x");
});

test("overlapping and contained secrets leave no remainder", () => {
  const mask = createMask(["abcdefgh-tail", "abcdefgh", "tail-and-more", "efgh-tail-"]);
  expect(mask("<abcdefgh-tail-and-more>")).toBe("<[secret]>");
  expect(mask("<abcdefgh>")).toBe("<[secret]>");
  expect(mask("abcdefghabcdefgh")).toBe("[secret][secret]");
});

test("no secret survives at any place in any text", () => {
  const value = fc.string({ unit: "grapheme", minLength: 8, maxLength: 40 }).filter((text) => text.trim().length >= 8);
  fc.assert(
    fc.property(value, fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (secret, before, after) => {
      const mask = createMask([secret]);
      const noted = JSON.stringify({ before, secret, after });
      const text = `${before}|${secret}|${noted}|${base64(before + secret + after)}|${encodeURIComponent(secret)}`;
      const masked = mask(text);
      fc.pre(!"[secret]".includes(secret.trim()));
      expect(masked).not.toContain(secret);
      expect(masked).not.toContain(JSON.stringify(secret).slice(1, -1));
      expect(masked).not.toContain(encodeURIComponent(secret));
      expect(Buffer.from(masked.split("|").at(-2) ?? "", "base64").toString()).not.toContain(secret);
    }),
    { numRuns: 300 },
  );
});

test("a thousand secrets and a long text are masked to the end", () => {
  const values = Array.from({ length: 1000 }, (_, i) => `token-${i}-${(i * 7919).toString(36)}-abcdef`);
  const mask = createMask(values);
  const text = `${"An ordinary sentence with token-like words in it. ".repeat(20_000)}${values[500]}`;
  const masked = mask(text);
  expect(masked.endsWith("it. [secret]")).toBe(true);
});
