/** Downloads from a Slack on this machine: only its own origin, redirects without the token. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { isSlackHost } from "../../src/adapters/slack/inbound-files.ts";
import { downloadFromOwnServer, isOwnServer } from "../../src/adapters/slack/own-server.ts";
import type { DownloadRequest } from "../../src/engine/index.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test("a redirect is handed to the guard without the token, so an internal address is not reached", async () => {
  const reached: unknown[] = [];
  const internal = await serve((request, response) => {
    reached.push(request.headers.authorization);
    response.end("internal");
  });
  const own = await serve((_request, response) => response.writeHead(302, { location: internal }).end());
  const handed: { url: string; request: DownloadRequest }[] = [];
  const got = await downloadFromOwnServer(
    `${own}file`,
    { headers: { authorization: "Bearer xoxb-secret" }, maxBytes: 100, timeoutMs: 2000 },
    (url, request) => {
      handed.push({ url, request });
      return Promise.resolve({ ok: false, reason: "private-address", text: "a loopback address" });
    },
  );
  expect(got).toMatchObject({ ok: false, reason: "private-address" });
  expect(handed).toEqual([{ url: internal, request: { maxBytes: 100, timeoutMs: 2000 } }]);
  expect(reached).toEqual([]);
});

test("a server that does not answer is a failure in time", async () => {
  const silent = await serve(() => undefined);
  const request = { maxBytes: 100, timeoutMs: 60 };
  const guard = () => Promise.reject(new Error("not asked"));
  expect(await downloadFromOwnServer(silent, request, guard)).toMatchObject({ ok: false, reason: "connection" });
});

test.each([
  ["http://127.0.0.1:9000/f", "http://127.0.0.1:9000/api/", true],
  ["http://127.0.0.1:9001/f", "http://127.0.0.1:9000/api/", false],
  ["http://127.0.0.1:9000/f", "https://slack.com/api/", false],
  ["https://slack.com/f", "https://slack.com/api/", false],
  ["http://127.0.0.1.evil.example:9000/f", "http://127.0.0.1.evil.example:9000/api/", false],
  ["not a url", "http://127.0.0.1:9000/api/", false],
])("%s beside %s: own server is %s", (url, api, expected) => {
  expect(isOwnServer(url, api)).toBe(expected);
});

test.each([
  ["https://files.slack.com/x", true],
  ["https://slack-files.com/x", true],
  ["https://acme.enterprise.slack.com/x", true],
  ["http://files.slack.com/x", false],
  ["https://evilslack.com/x", false],
  ["https://files.slack.com.evil.example/x", false],
  ["https://slack.com@evil.example/x", false],
])("%s may see the token: %s", (url, expected) => {
  expect(isSlackHost(url, "https://slack.com/api/")).toBe(expected);
});
