/**
 * What a log line holds, and above all what it does not: secrets, content, whole objects of client libraries.
 */
import { expect, test } from "vitest";
import { createMask, SecretValue } from "../src/engine/index.ts";
import { createLog } from "../src/log.ts";

const TOKEN = "xoxb-1234567890-abcdef";

function record(options: { level?: "debug" | "info"; secrets?: string[] } = {}) {
  const lines: string[] = [];
  const log = createLog({
    level: options.level ?? "info",
    mask: createMask(options.secrets ?? [TOKEN]),
    write: (line) => lines.push(line),
  });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? "{}") as Record<string, unknown> };
}

test("a line is JSON with level, time, msg and the fields", () => {
  const { log, lines, last } = record();
  log.info({ bot: "ada", turns: 3 }, "ready");
  expect(lines[0]).toMatch(/^\{.*\}\n$/);
  expect(last()).toMatchObject({ level: "info", msg: "ready", bot: "ada", turns: 3 });
  expect(new Date(String(last().time)).getTime()).toBeGreaterThan(0);
});

test("lines below the level are not written", () => {
  const { log, lines } = record();
  log.debug({}, "details");
  expect(lines).toEqual([]);
});

test("a child adds its fields to every line", () => {
  const { log, last } = record();
  log.child({ bot: "ada" }).child({ turn: "t1" }).warn({}, "slow");
  expect(last()).toMatchObject({ level: "warn", bot: "ada", turn: "t1" });
});

test("a known secret is hidden wherever it stands and however it is written", () => {
  const { log, lines } = record();
  log.error(
    { note: `token ${TOKEN}`, encoded: Buffer.from(TOKEN).toString("base64"), error: new Error(`bad ${TOKEN}`) },
    `failed with ${TOKEN}`,
  );
  expect(lines.join()).not.toContain(TOKEN);
  expect(lines.join()).not.toContain(Buffer.from(TOKEN).toString("base64"));
});

test("a secret that would tear the line apart costs the line, not the secret", () => {
  const { log, lines, last } = record({ secrets: ['"msg":"ready"'] });
  log.info({}, "ready");
  expect(lines).toHaveLength(1);
  expect(last().msg).toContain("left out");
});

test.each(["botToken", "Authorization", "set-cookie", "apiKey", "api_key", "clientSecret", "password"])(
  "a field called %s is hidden",
  (key) => {
    const { log, last } = record();
    log.info({ nested: { [key]: "value-of-it" } }, "x");
    expect(last().nested).toEqual({ [key]: "[secret]" });
  },
);

test("numbers of tokens are no secret", () => {
  const { log, last } = record();
  log.info({ inputTokens: 12 }, "x");
  expect(last().inputTokens).toBe(12);
});

test("fields that carry what was said are hidden", () => {
  const { log, lines } = record();
  log.info(
    { text: "my diary", entry: { content: "my diary", blocks: ["my diary"], arguments: { a: "my diary" } } },
    "x",
  );
  expect(lines.join()).not.toContain("my diary");
});

test("addresses lose user, password and query, and one-time links their token", () => {
  const { log, lines } = record();
  log.info({ url: "https://u:pw@files.example.com/a?sig=abc", path: `/s/${"k".repeat(43)}` }, "fetched");
  expect(lines[0]).toContain('"https://files.example.com/a"');
  expect(lines[0]).toContain("/s/[secret]");
});

test("an error keeps its message, code, place and cause, and loses what a client hung on it", () => {
  const { log, last } = record();
  const error = Object.assign(new Error("refused", { cause: new Error("socket closed") }), {
    code: "ECONNREFUSED",
    request: { headers: { x: "y" } },
  });
  log.error({ error }, "x");
  expect(last().error).toMatchObject({
    type: "Error",
    message: "refused",
    code: "ECONNREFUSED",
    cause: { message: "socket closed" },
  });
  expect(JSON.stringify(last().error)).not.toContain("headers");
});

test("errors that quote the data they met are cut before the quotation", () => {
  const { log, lines } = record();
  const named = (name: string, message: string) => Object.assign(new Error(message), { name });
  log.error(
    { error: named("PrismaClientValidationError", 'Invalid invocation: { body: "my diary" }\n\nArgument missing.') },
    "x",
  );
  log.error(
    {
      error: named(
        "AI_InvalidToolInputError",
        "Invalid input for tool SendMessage: JSON parsing failed: Text: my diary.",
      ),
    },
    "x",
  );
  log.error({ error: new SyntaxError('Unexpected token m, "my diary" is not valid JSON') }, "x");
  expect(lines).toHaveLength(3);
  expect(lines.join()).not.toContain("my diary");
});

test("odd values are written small or not at all, and never throw", () => {
  const { log, last } = record();
  const loop: Record<string, unknown> = {
    big: 10n,
    bytes: new Uint8Array(9),
    map: new Map([[1, 2]]),
    secret: new SecretValue("12345678"),
    long: "a".repeat(5_000),
  };
  loop.self = loop;
  log.info(loop, "x");
  expect(last()).toMatchObject({ big: "10", bytes: "[9 bytes]", map: "[1 entries]", secret: "[secret]" });
  expect(String(last().long).length).toBeLessThan(1_100);
});
