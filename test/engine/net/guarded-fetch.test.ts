/** What the download guard lets through and what it refuses, trick by trick (SPEC M5). */
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { createGuardedFetch } from "../../../src/engine/net/guarded-fetch.ts";
import { LIMITS, readAll, redirectTo, startFetchSite } from "./fetch-site.ts";

const site = await startFetchSite();
const { host, guard, serve, open, requests } = site;
afterAll(site.close);

describe("what is downloaded", () => {
  test("a file from a listed host arrives with its type, headers and address", async () => {
    const url = serve((_request, response) =>
      response.writeHead(200, { "content-type": "Text/CSV; charset=utf-8" }).end("a,b"),
    );
    const file = await open(url);
    expect(file).toMatchObject({ status: 200, mediaType: "text/csv", finalUrl: url });
    expect((await readAll(file.body)).toString()).toBe("a,b");
  });

  test("a redirect inside the rules is followed to the end", async () => {
    const target = serve((_request, response) => response.end("here"));
    const result = await open(serve(redirectTo(new URL(target).pathname)));
    expect(result.finalUrl).toBe(target);
    expect((await readAll(result.body)).toString()).toBe("here");
  });

  test("a compressed body is unpacked even though none was asked for", async () => {
    const url = serve((_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("plain")),
    );
    const file = await open(url);
    expect((await readAll(file.body)).toString()).toBe("plain");
    expect(requests()[0]?.headers["accept-encoding"]).toBe("identity");
  });

  test("HEAD tells type and size without a body", async () => {
    const url = serve((_request, response) => response.writeHead(200, { "content-length": "999999999" }).end());
    const file = await open(url, { method: "HEAD" });
    expect(file.headers["content-length"]).toBe("999999999");
    expect(await readAll(file.body)).toHaveLength(0);
  });

  test("a 404 is a failure with its status, not a file", async () => {
    const result = await guard()(`https://127.0.0.1:${host.port}/missing`, LIMITS);
    expect(result).toMatchObject({ ok: false, reason: "status", status: 404 });
  });

  test("a rate limit passes on how long to wait", async () => {
    const url = serve((_request, response) => response.writeHead(429, { "retry-after": "7" }).end());
    expect(await guard()(url, LIMITS)).toMatchObject({ ok: false, status: 429, retryAfterMs: 7000 });
  });

  test("many downloads at once do not disturb each other", async () => {
    const url = serve((_request, response) => response.end("x".repeat(50_000)));
    const files = await Promise.all(Array.from({ length: 20 }, () => open(url)));
    const sizes = await Promise.all(files.map(async (file) => (await readAll(file.body)).length));
    expect(sizes).toEqual(Array(20).fill(50_000));
  });
});

describe("addresses that are refused", () => {
  const literals = [
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.0.0.1.",
    "１２７.0.0.1",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "169.254.169.254",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "192.0.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[fe80::1]",
    "[fc00::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[4000::1]",
  ];
  test.each(literals)("https://%s is refused before anything is sent", async (literal) => {
    const seen = requests().length;
    const result = await guard({ allowPrivateHosts: [] })(`https://${literal}:${host.port}/x`, LIMITS);
    expect(result).toMatchObject({ ok: false, reason: "private-address" });
    expect(requests()).toHaveLength(seen);
  });

  test.each(["localhost", "localhost.", "LOCALHOST", "a.localhost"])("%s is refused by name", async (name) => {
    const result = await guard()(`https://${name}:${host.port}/x`, LIMITS);
    expect(result).toMatchObject({ ok: false, reason: "private-address" });
  });

  test.each([
    [["127.0.0.1"]],
    [["10.0.0.7"]],
    [["::1"]],
    [["::ffff:10.0.0.7"]],
    [["64:ff9b::a9fe:a9fe"]],
    [["93.184.216.34", "127.0.0.1"]],
  ])("a name that resolves to %j is refused", async (addresses) => {
    const lookup = async () => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const result = await guard({ lookup })(`https://innocent.example:${host.port}/x`, LIMITS);
    expect(result).toMatchObject({ ok: false, reason: "private-address" });
    expect(result.ok ? "" : result.text).toContain("innocent.example resolves to");
  });

  test("a name is looked up once and that answer is connected to, so it cannot change its mind", async () => {
    const url = serve((_request, response) => response.end("ok"));
    let lookups = 0;
    const lookup = async () => {
      lookups += 1;
      return [{ address: lookups === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 }];
    };
    const named = url.replace("127.0.0.1", "files.example");
    const file = await open(named, {}, { lookup, allowPrivateHosts: ["files.example"] });
    expect((await readAll(file.body)).toString()).toBe("ok");
    expect(lookups).toBe(1);
  });

  test("a second look that turns private is refused too", async () => {
    const answers = ["93.184.216.34", "127.0.0.1"];
    const lookup = async () => [{ address: answers.pop() ?? "", family: 4 }];
    const result = await guard({ lookup })(`https://rebind.example:${host.port}/x`, LIMITS);
    expect(result).toMatchObject({ ok: false, reason: "private-address" });
  });

  test("an unknown host is named", async () => {
    const lookup = () => Promise.reject(new Error("ENOTFOUND"));
    const result = await guard({ lookup })("https://nowhere.example/x?key=hidden", LIMITS);
    expect(result).toMatchObject({ ok: false, reason: "unknown-host" });
    expect(result.ok ? "" : result.text).toContain("nowhere.example");
    expect(result.ok ? "" : result.text).not.toContain("hidden");
  });

  test.each([
    ["ftp://files.example/x", "not-https"],
    ["http://93.184.216.34/x", "not-https"],
    ["http://127.0.0.1/x", "not-https"],
    ["file:///etc/passwd", "bad-url"],
    ["data:text/plain,x", "bad-url"],
    ["not an address", "bad-url"],
    ["https://user:pass@93.184.216.34/x", "credentials"],
    ["https://user@93.184.216.34/x", "credentials"],
    ["https://[fe80::1%25eth0]/x", "bad-url"],
  ])("%s is refused as %s", async (url, reason) => {
    expect(await guard()(url, LIMITS)).toMatchObject({ ok: false, reason });
  });

  test("plain http is let through only by explicit setting and only to listed hosts", async () => {
    const settings = { allowHttp: true, lookup: async () => [{ address: "93.184.216.34", family: 4 }] };
    expect(await guard(settings)("http://public.example/x", LIMITS)).toMatchObject({ ok: false, reason: "not-https" });
    const refused = await guard(settings)(`http://127.0.0.1:${host.port}/x`, LIMITS);
    expect(refused).toMatchObject({ ok: false, reason: "connection" });
  });

  test("a listed host with a port or scheme is a settings error", () => {
    expect(() => guard({ allowPrivateHosts: ["https://intranet"] })).toThrow(/leave out scheme, port/);
    expect(() => guard({ allowPrivateHosts: ["intranet:8443"] })).toThrow(/leave out scheme, port/);
  });

  test("a listed IPv6 address matches in any spelling", async () => {
    const result = await guard({ allowPrivateHosts: ["0:0:0:0:0:0:0:1"] })(`https://[::1]:${host.port}/x`, LIMITS);
    expect(result).not.toMatchObject({ reason: "private-address" });
  });

  test("a certificate nobody vouches for is refused", async () => {
    const plain = createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"] });
    expect(await plain(`https://127.0.0.1:${host.port}/x`, LIMITS)).toMatchObject({ ok: false, reason: "tls" });
  });
});

test("no failure quotes the query of an address, which may hold a signature", async () => {
  const results = await Promise.all([
    guard()("https://127.0.0.1:1/x?sig=topsecret", LIMITS),
    guard()("https://10.0.0.1/x?sig=topsecret", LIMITS),
    guard()(`https://127.0.0.1:${host.port}/missing?sig=topsecret`, LIMITS),
  ]);
  expect(JSON.stringify(results)).not.toContain("topsecret");
});
