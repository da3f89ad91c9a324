/** Servers as settings and plugins write them. */
import { expect, test } from "vitest";
import { readServersFile, toDefinitions } from "../../../src/tools/mcp/definitions.ts";

test("one connection per server, or per account with its own values", () => {
  const all = toDefinitions({
    tickets: { url: "https://t.example.com", headers: { A: "1" } },
    code: { command: "npx", env: { A: "1" }, accounts: { work: { T: "w" }, own: { T: "o" } } },
  });
  expect(all.map(({ id }) => id)).toEqual(["code.own", "code.work", "tickets"]);
  expect(all[0]?.address).toMatchObject({ kind: "program", env: { A: "1", T: "o" } });
  expect(all.every(({ isEnabled, timeoutMs }) => isEnabled && timeoutMs === 60_000)).toBe(true);
});

test("a plugin's servers are off, may spend nothing and stop no turn; what cannot be used is named", () => {
  const { definitions, problems } = readServersFile(
    {
      mcpServers: {
        ok: { command: "x", required: true, sampling: 9 },
        "bad name!": { command: "x" },
        both: { command: "x", url: "https://x.example" },
        none: {},
      },
    },
    "plug",
  );
  expect(definitions).toMatchObject([
    { id: "ok", source: "plug", isEnabled: false, isRequired: false, samplingPerHour: 0 },
  ]);
  expect(problems).toHaveLength(3);
  expect(readServersFile("text", "plug").problems).toHaveLength(1);
});

test("values a package takes from its user's environment are secrets an administrator gives; usual values are taken", () => {
  const named = (name: string) => `${"$"}{${name}}`;
  const env = { KEY: named("API_KEY"), MODE: named("MODE:-fast"), OWN: named("secret:own"), PLAIN: "$HOME" };
  const { definitions } = readServersFile(
    {
      one: { command: "x", env },
      two: { url: "https://x.example", headers: { Authorization: `Bearer ${named("TOKEN")}` } },
    },
    "plug",
  );
  expect(definitions.map(({ address }) => address)).toMatchObject([
    { env: { KEY: named("secret:API_KEY"), MODE: "fast", OWN: named("secret:own"), PLAIN: "$HOME" } },
    { headers: { Authorization: `Bearer ${named("secret:TOKEN")}` } },
  ]);
});
