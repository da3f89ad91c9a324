/**
 * What the doctor learns from Slack about a bot's tokens, asked of a server that answers as Slack does.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { INSTALL_SCOPES, NEEDED_SCOPES } from "../../src/adapters/slack/manifest.ts";
import { setup } from "../../src/adapters/slack/setup.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** `answers`: method and token → body; `scopes` goes into the header Slack sends. */
async function slack(answers: Record<string, object>, scopes: readonly string[] = INSTALL_SCOPES): Promise<string> {
  const server = createServer((request, response) => {
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    response.writeHead(200, { "content-type": "application/json", "x-oauth-scopes": scopes.join(",") });
    response.end(
      JSON.stringify(answers[`${request.url?.split("/").at(-1)} ${token}`] ?? { ok: false, error: "invalid_auth" }),
    );
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
}

const GOOD = {
  "auth.test xoxb-good": { ok: true, user: "ada", team: "Acme" },
  "apps.connections.open xapp-good": { ok: true, url: "wss://x" },
};
const check = (apiUrl: string, settings: object) => setup.check({ botId: "ada", settings, apiUrl });

test("working tokens are named with bot user and workspace", async () => {
  const found = await check(await slack(GOOD), { botToken: "xoxb-good", appToken: "xapp-good" });
  expect(found.map(({ state }) => state)).toEqual(["ok", "ok"]);
  expect(found[0]?.what).toContain("ada in Acme");
});

test("a missing permission is named, with what to do", async () => {
  const found = await check(
    await slack(
      GOOD,
      NEEDED_SCOPES.filter((scope) => scope !== "im:history"),
    ),
    { botToken: "xoxb-good" },
  );
  expect(found[1]).toMatchObject({
    state: "fault",
    what: expect.stringContaining("im:history"),
    fix: expect.stringMatching(/install the app again/),
  });
});

test("every missing permission is named with what it is for, and a missing command is a warning", async () => {
  const found = await check(await slack(GOOD, ["chat:write"]), { botToken: "xoxb-good" });
  const [, scopes, command] = found;
  for (const scope of NEEDED_SCOPES.filter((one) => one !== "chat:write")) expect(scopes?.what).toContain(`${scope} (`);
  expect(scopes?.fix).toContain("npx parley manifest ada");
  expect(command).toMatchObject({ state: "warning", what: expect.stringContaining("/parley-ada") });
});

test("with receipts on, the missing permission to react says that they are not shown", async () => {
  const url = await slack(
    GOOD,
    NEEDED_SCOPES.filter((scope) => scope !== "reactions:write"),
  );
  const found = await setup.check({ botId: "ada", settings: { botToken: "xoxb-good" }, apiUrl: url, receipts: true });
  expect(found[1]?.what).toContain("reactions:write (react, and show the receipts of slack.receipts)");
});

test("client id and secret are checked without a token, and a wrong secret is named", async () => {
  const known = await slack({ "oauth.v2.access ": { ok: false, error: "invalid_code" } });
  const client = { clientId: "1.2", clientSecret: "very-secret" };
  expect(await check(known, client)).toMatchObject([{ state: "ok", what: expect.stringContaining("client id") }]);
  const wrong = await check(await slack({ "oauth.v2.access ": { ok: false, error: "bad_client_secret" } }), client);
  expect(wrong).toMatchObject([{ state: "fault", what: expect.stringContaining("bad_client_secret") }]);
  expect(JSON.stringify(wrong)).not.toContain("very-secret");
});

test("a bot with neither token nor client id has a fault that says which", async () => {
  expect(await check("http://127.0.0.1:1/api/", {})).toMatchObject([{ state: "fault", fix: "Set slack.botToken." }]);
});

test("refused tokens are told apart and not repeated", async () => {
  const found = await check(await slack({}), { botToken: "xoxb-bad", appToken: "xapp-bad" });
  expect(found.map(({ what }) => what)).toEqual([
    expect.stringMatching(/bot token.*invalid_auth/),
    expect.stringMatching(/app-level token.*invalid_auth/),
  ]);
  expect(JSON.stringify(found)).not.toMatch(/xoxb-bad|xapp-bad/);
});

test("a Slack that is not there is a fault, not a crash", async () => {
  const found = await check("http://127.0.0.1:1/api/", { botToken: "xoxb-good" });
  expect(found).toMatchObject([{ state: "fault", fix: expect.any(String) }]);
});

test("the manifest comes as JSON, and its link carries the same", () => {
  const { text, link } = setup.manifest({ botId: "ada", name: "Ada", role: "Researches.", mode: "socket" });
  expect(JSON.parse(text)).toMatchObject({
    display_information: { name: "Ada" },
    settings: { socket_mode_enabled: true },
  });
  expect(JSON.parse(new URL(link).searchParams.get("manifest_json") ?? "")).toEqual(JSON.parse(text));
});
