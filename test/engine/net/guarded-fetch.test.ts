import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DownloadRequest } from "../../../src/engine/download.ts";
import { TransferError } from "../../../src/engine/download.ts";
import { createGuardedFetch, type GuardedFetchSettings } from "../../../src/engine/net/guarded-fetch.ts";
import { type Certificate, type HttpsHost, makeCertificate, startHttpsHost } from "./https-host.ts";

const LIMITS: DownloadRequest = { maxBytes: 100_000, timeoutMs: 5_000 };
type Route = (request: IncomingMessage, response: ServerResponse) => void;

let certificate: Certificate;
let host: HttpsHost;
let other: HttpsHost;
let requests: IncomingMessage[] = [];
const routes = new Map<string, Route>();

beforeAll(async () => {
  certificate = makeCertificate();
  const serve: Route = (request, response) => {
    requests.push(request);
    const route = routes.get(request.url ?? "");
    if (route === undefined) response.writeHead(404).end("nothing");
    else route(request, response);
  };
  host = await startHttpsHost(certificate, serve);
  other = await startHttpsHost(certificate, serve);
});

afterAll(async () => {
  await host.close();
  await other.close();
});

/** A guard that may reach the test's own server under 127.0.0.1. */
function guard(settings: Partial<GuardedFetchSettings> = {}) {
  return createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"], ca: certificate.cert, ...settings });
}

/** Serves `route` once under a fresh address. */
function serve(route: Route, from = host): string {
  const path = `/${routes.size}`;
  routes.set(path, route);
  requests = [];
  return `https://127.0.0.1:${from.port}${path}`;
}

function redirectTo(location: string): Route {
  return (_request, response) => response.writeHead(302, { location }).end("moved");
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function readUntilError(body: AsyncIterable<Uint8Array>): Promise<{ bytes: number; error: TransferError }> {
  let bytes = 0;
  try {
    for await (const chunk of body) bytes += chunk.byteLength;
  } catch (error) {
    if (error instanceof TransferError) return { bytes, error };
    throw error;
  }
  throw new Error("the body ended without an error");
}

async function open(url: string, request: Partial<DownloadRequest> = {}, settings: Partial<GuardedFetchSettings> = {}) {
  const result = await guard(settings)(url, { ...LIMITS, ...request });
  if (!result.ok) throw new Error(`${result.reason}: ${result.text}`);
  return result;
}

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
    expect(requests[0]?.headers["accept-encoding"]).toBe("identity");
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
    const seen = requests.length;
    const result = await guard({ allowPrivateHosts: [] })(`https://${literal}:${host.port}/x`, LIMITS);
    expect(result).toMatchObject({ ok: false, reason: "private-address" });
    expect(requests).toHaveLength(seen);
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

describe("redirects", () => {
  test.each([
    ["https://10.0.0.1/", "private-address"],
    ["https://169.254.169.254/latest/meta-data", "private-address"],
    ["https://167772161/", "private-address"],
    ["https://[::ffff:127.0.0.1]/", "private-address"],
    ["http://127.0.0.1/", "not-https"],
    ["//10.0.0.1/", "private-address"],
    ["https://u:p@127.0.0.1/", "credentials"],
    ["ftp://127.0.0.1/", "not-https"],
    ["", "redirects"],
  ])("a redirect to %j is refused as %s", async (location, reason) => {
    expect(await guard()(serve(redirectTo(location)), LIMITS)).toMatchObject({ ok: false, reason });
  });

  test("a redirect to a name that resolves to a private address is refused", async () => {
    const lookup = async () => [{ address: "10.0.0.7", family: 4 }];
    const result = await guard({ lookup })(serve(redirectTo("https://inner.example/")), LIMITS);
    expect(result).toMatchObject({ ok: false, reason: "private-address" });
  });

  test("a redirect in a circle ends", async () => {
    const first = serve(redirectTo(`/${routes.size + 1}`));
    serve(redirectTo(new URL(first).pathname));
    expect(await guard()(first, LIMITS)).toMatchObject({ ok: false, reason: "redirects" });
    expect(requests.length).toBe(2);
  });

  test("an endless chain of redirects ends after the limit", async () => {
    let step = 0;
    for (let i = 0; i < 20; i += 1) routes.set(`/chain${i}`, redirectTo(`/chain${i + 1}`));
    routes.set("/chain0", (_request, response) => {
      step += 1;
      response.writeHead(307, { location: "/chain1" }).end();
    });
    requests = [];
    const url = `https://127.0.0.1:${host.port}/chain0`;
    expect(await guard()(url, { ...LIMITS, maxRedirects: 3 })).toMatchObject({ ok: false, reason: "redirects" });
    expect(requests.length).toBe(4);
    expect(step).toBe(1);
  });

  test("a token follows a redirect on the same host", async () => {
    const target = serve((_request, response) => response.end("private file"));
    const file = await open(serve(redirectTo(target)), { headers: { authorization: "Bearer t0ken" } });
    file.cancel();
    expect(requests.at(-1)?.headers.authorization).toBe("Bearer t0ken");
  });

  test("a token never follows a redirect to another host or port", async () => {
    const target = serve((_request, response) => response.end("x"), other);
    const file = await open(serve(redirectTo(target)), { headers: { Authorization: "Bearer t0ken", cookie: "c=1" } });
    file.cancel();
    const [first, second] = [requests.at(-2), requests.at(-1)];
    expect(first?.headers.authorization).toBe("Bearer t0ken");
    expect(second?.headers.authorization).toBeUndefined();
    expect(second?.headers.cookie).toBeUndefined();
  });

  test("with a list of hosts, others are refused first and after a redirect", async () => {
    const request = { ...LIMITS, allowedHosts: ["127.0.0.1"] };
    expect(await guard()("https://93.184.216.34/x", request)).toMatchObject({ ok: false, reason: "host-not-listed" });
    const url = serve(redirectTo("https://93.184.216.34/x"));
    expect(await guard()(url, request)).toMatchObject({ ok: false, reason: "host-not-listed" });
  });

  test("a list of hosts may name the subdomains of one", async () => {
    const lookup = async () => [{ address: "10.0.0.7", family: 4 }];
    const request = { ...LIMITS, allowedHosts: ["*.files.example"] };
    const fetch = guard({ lookup });
    expect(await fetch("https://a.files.example/", request)).toMatchObject({ reason: "private-address" });
    expect(await fetch("https://evilfiles.example/", request)).toMatchObject({ reason: "host-not-listed" });
    expect(await fetch("https://files.example.evil/", request)).toMatchObject({ reason: "host-not-listed" });
  });
});

describe("limits", () => {
  test("a body announced as too large is not read", async () => {
    const url = serve((_request, response) => response.writeHead(200, { "content-length": "100001" }).write("x"));
    expect(await guard()(url, LIMITS)).toMatchObject({ ok: false, reason: "too-large" });
  });

  test("a body exactly at the limit is read whole", async () => {
    const file = await open(serve((_request, response) => response.end("x".repeat(100_000))));
    expect(await readAll(file.body)).toHaveLength(100_000);
  });

  test("a body that grows over the limit without saying so is cut", async () => {
    let isClosed = false;
    const url = serve((_request, response) => {
      response.on("close", () => {
        isClosed = true;
      });
      const write = () => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
      };
      response.on("drain", write);
      write();
    });
    const { bytes, error } = await readUntilError((await open(url)).body);
    expect(error.reason).toBe("too-large");
    expect(bytes).toBeLessThanOrEqual(100_000);
    await expect.poll(() => isClosed, { timeout: 10_000 }).toBe(true);
  });

  test("a compressed bomb is cut at the limit after unpacking", async () => {
    const bomb = gzipSync(Buffer.alloc(80_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    const url = serve((_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    const { bytes, error } = await readUntilError((await open(url)).body);
    expect(error.reason).toBe("too-large");
    expect(bytes).toBeLessThanOrEqual(100_000);
  });

  test.each(["gzip, gzip", "zstd", "compress"])("content-encoding %s is refused", async (encoding) => {
    const url = serve((_request, response) => response.writeHead(200, { "content-encoding": encoding }).end("x"));
    expect(await guard()(url, LIMITS)).toMatchObject({ ok: false, reason: "encoding" });
  });

  test("a damaged compressed body is a readable failure", async () => {
    const url = serve((_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip"));
    expect((await readUntilError((await open(url)).body)).error.reason).toBe("encoding");
  });

  test("a server that drips byte by byte is cut off", async () => {
    const url = serve((_request, response) => {
      const timer = setInterval(() => response.write("x"), 20);
      response.on("close", () => clearInterval(timer));
    });
    const began = performance.now();
    const { error } = await readUntilError((await open(url, {}, { idleMs: 300 })).body);
    expect(error.reason).toBe("too-slow");
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test("a server that drips faster than the pace is still cut by the time limit", async () => {
    const url = serve((_request, response) => {
      const timer = setInterval(() => response.write("x".repeat(600)), 20);
      response.on("close", () => clearInterval(timer));
    });
    const file = await open(url, { timeoutMs: 400, maxBytes: 10_000_000 });
    expect((await readUntilError(file.body)).error.reason).toBe("timeout");
  });

  test("a slow reader is not mistaken for a slow server", async () => {
    const url = serve((_request, response) => response.end("x".repeat(90_000)));
    const file = await open(url, {}, { idleMs: 500 });
    let bytes = 0;
    for await (const chunk of file.body) {
      bytes += chunk.byteLength;
      if (bytes === chunk.byteLength) await new Promise((resolve) => setTimeout(resolve, 800));
    }
    expect(bytes).toBe(90_000);
  });

  test("a server that accepts and then says nothing is given up on", async () => {
    const url = serve(() => undefined);
    const result = await guard()(url, { ...LIMITS, timeoutMs: 300 });
    expect(result).toMatchObject({ ok: false, reason: "timeout" });
  });

  test("a name server that never answers is given up on", async () => {
    const lookup = () => new Promise<never>(() => undefined);
    const result = await guard({ lookup })("https://silent.example/", { ...LIMITS, timeoutMs: 200 });
    expect(result).toMatchObject({ ok: false, reason: "timeout" });
  });

  test("a body nobody reads is closed by the time limit without harm", async () => {
    let isClosed = false;
    const url = serve((_request, response) => {
      response.write("x");
      response.on("close", () => {
        isClosed = true;
      });
    });
    await open(url, { timeoutMs: 200 });
    await expect.poll(() => isClosed, { timeout: 10_000 }).toBe(true);
  });

  test("a connection that breaks off in the middle is a failure, never a short file", async () => {
    const url = serve((_request, response) => {
      response.writeHead(200, { "content-length": "5000" });
      response.write("x".repeat(2000), () => response.destroy());
    });
    expect((await readUntilError((await open(url)).body)).error.reason).toBe("connection");
  });

  test("the caller can call it off, before and during the body", async () => {
    const early = new AbortController();
    early.abort();
    const url = serve((_request, response) => response.write("x"));
    expect(await guard()(url, { ...LIMITS, signal: early.signal })).toMatchObject({ ok: false, reason: "cancelled" });
    const late = new AbortController();
    const file = await open(url, { signal: late.signal });
    setImmediate(() => late.abort());
    expect((await readUntilError(file.body)).error.reason).toBe("cancelled");
  });

  test("leaving the loop early closes the connection", async () => {
    let isClosed = false;
    const url = serve((_request, response) => {
      response.write("x".repeat(5000));
      response.on("close", () => {
        isClosed = true;
      });
    });
    for await (const _chunk of (await open(url)).body) break;
    await expect.poll(() => isClosed, { timeout: 10_000 }).toBe(true);
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
