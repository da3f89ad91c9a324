/** Redirects, sizes and times of guarded downloads (SPEC M5). */
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { LIMITS, readAll, readUntilError, redirectTo, startFetchSite } from "./fetch-site.ts";

const site = await startFetchSite();
const { host, other, guard, serve, open, requests, routes, forget } = site;
afterAll(site.close);

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
    expect(requests().length).toBe(2);
  });

  test("an endless chain of redirects ends after the limit", async () => {
    let step = 0;
    for (let i = 0; i < 20; i += 1) routes.set(`/chain${i}`, redirectTo(`/chain${i + 1}`));
    routes.set("/chain0", (_request, response) => {
      step += 1;
      response.writeHead(307, { location: "/chain1" }).end();
    });
    forget();
    const url = `https://127.0.0.1:${host.port}/chain0`;
    expect(await guard()(url, { ...LIMITS, maxRedirects: 3 })).toMatchObject({ ok: false, reason: "redirects" });
    expect(requests().length).toBe(4);
    expect(step).toBe(1);
  });

  test("a token follows a redirect on the same host", async () => {
    const target = serve((_request, response) => response.end("private file"));
    const file = await open(serve(redirectTo(target)), { headers: { authorization: "Bearer t0ken" } });
    file.cancel();
    expect(requests().at(-1)?.headers.authorization).toBe("Bearer t0ken");
  });

  test("a token never follows a redirect to another host or port", async () => {
    const target = serve((_request, response) => response.end("x"), other);
    const file = await open(serve(redirectTo(target)), { headers: { Authorization: "Bearer t0ken", cookie: "c=1" } });
    file.cancel();
    const [first, second] = [requests().at(-2), requests().at(-1)];
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
    const { error } = await readUntilError((await open(url, {}, { idleMs: 300 })).body);
    expect(error.reason).toBe("too-slow");
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
