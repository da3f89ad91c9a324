/** The web server from outside: which path meets which route, who gets in, how much may be sent, and what an error gives away (SPEC O1, O3). */
import { describe, expect, test } from "vitest";
import { matchPath } from "../src/main-web.ts";
import { ask, echo, inner, logged, route, start } from "./support/web-server.ts";

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });

describe("a path", () => {
  test.each<[string, string, object | undefined]>([
    ["/slack/:bot/events", "/slack/ada/events", { bot: "ada" }],
    ["/slack/:bot/events", "/slack/ada/events/", undefined],
    ["/slack/:bot/events", "/slack//events", undefined],
    ["/slack/:bot/events", "/slack/ada", undefined],
    ["/slack/:bot/events", "/Slack/ada/events", undefined],
    ["/s/:token", "/s/a%20b", { token: "a b" }],
    ["/s/:token", "/s/a%2Fb", { token: "a/b" }],
    ["/s/:token", "/s/%E0%A4%A", undefined],
    ["/s/:token", "/s/..", { token: ".." }],
    ["/", "/", {}],
    ["/", "", undefined],
    ["/a/:x/:y", "/a/1/2", { x: "1", y: "2" }],
  ])("%s and %s", (pattern, path, parameters) => {
    expect(matchPath(pattern, path)).toEqual(parameters);
  });

  test("that nobody serves is not found, with a wrong method not allowed", async () => {
    const port = await start([route(), echo]);
    expect(await ask(port, "/nothing")).toMatchObject({
      status: 404,
      body: '{"error":"There is nothing at this address."}',
    });
    expect(await ask(port, "/echo")).toMatchObject({ status: 405 });
    expect(await ask(port, "/open/x", { method: "DELETE" })).toMatchObject({ status: 405 });
  });

  test("may have one route for each method", async () => {
    const form = route({ path: "/s/:token", handle: async () => new Response("form") });
    const taken = route({ path: "/s/:token", method: "POST", handle: async () => new Response("taken") });
    const port = await start([form, taken]);
    expect((await ask(port, "/s/1")).body).toBe("form");
    expect((await ask(port, "/s/1", { method: "POST" })).body).toBe("taken");
  });

  test("answers HEAD like GET, without a body", async () => {
    const port = await start([route()]);
    expect(await ask(port, "/open/ada", { method: "HEAD" })).toMatchObject({
      status: 200,
      body: "",
      headers: { "x-route": "yes" },
    });
    expect(await ask(port, "/none", { method: "HEAD" })).toMatchObject({ status: 404, body: "" });
  });

  test("keeps query and encoded parts for the route", async () => {
    const shown = route({ path: "/q", handle: async (request) => new Response(new URL(request.url).search) });
    const port = await start([route(), shown]);
    expect((await ask(port, "/q?a=%20b")).body).toBe("?a=%20b");
    expect((await ask(port, "/open/%F0%9F%91%8D")).body).toBe('{"name":"👍"}');
  });
});

describe("health", () => {
  test("is 200 when all is well and 503 when not, for everybody", async () => {
    const password = "a long password";
    expect((await ask(await start([], { password }), "/healthz")).status).toBe(200);
    expect((await ask(await start([], { health: async () => ({ status: "down" }) }), "/healthz")).status).toBe(503);
    const readiness = () => ({ ready: false, body: { bots: [{ botId: "ada" }] } });
    expect(await ask(await start([], { readiness, password }), "/readyz")).toMatchObject({
      status: 503,
      body: '{"bots":[{"botId":"ada"}]}',
    });
  });
});

describe("with a password", () => {
  const password = "pass:wörd ok";
  test("guarded routes and metrics ask for it, others do not", async () => {
    const port = await start([route(), inner], { password });
    for (const path of ["/inner", "/metrics"]) {
      const answer = await ask(port, path);
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toContain("Basic");
    }
    expect((await ask(port, "/open/ada")).status).toBe(200);
  });

  test.each([`me:${password}`, `:${password}`])("the right one opens, whatever the name: %s", async (text) => {
    const port = await start([inner], { password });
    expect((await ask(port, "/inner", { headers: basic(text) })).status).toBe(200);
    expect((await ask(port, "/metrics", { headers: basic(text) })).body).toBe("up 1");
  });

  test("it opens from any host name", async () => {
    const port = await start([inner], { password });
    expect((await ask(port, "/inner", { headers: { ...basic(`me:${password}`), host: "bots.example" } })).status).toBe(
      200,
    );
  });

  test.each<[string, Record<string, string>]>([
    ["another password", basic("me:wrong")],
    ["an empty one", basic("me:")],
    ["a part of it", basic("me:pass")],
    ["another scheme", { authorization: `Bearer ${password}` }],
    ["no scheme", { authorization: password }],
    ["nonsense", { authorization: "Basic %%%" }],
    ["nothing behind the scheme", { authorization: "Basic" }],
  ])("%s does not open", async (_name, headers) => {
    expect((await ask(await start([inner], { password }), "/inner", { headers })).status).toBe(401);
  });
});

describe("without a password", () => {
  test.each(["127.0.0.1:3000", "localhost", "LOCALHOST:80", "[::1]:3000"])(
    "this machine's name %s gets in",
    async (host) => {
      expect((await ask(await start([inner]), "/inner", { headers: { host } })).status).toBe(200);
    },
  );

  test.each(["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "bots.example:443", "0.0.0.0"])(
    "another name %s does not, because any site could point it here",
    async (host) => {
      const port = await start([inner, route()]);
      expect(await ask(port, "/inner", { headers: { host } })).toMatchObject({
        status: 403,
        body: expect.stringContaining("127.0.0.1"),
      });
      expect((await ask(port, "/metrics", { headers: { host } })).status).toBe(403);
      expect((await ask(port, "/open/ada", { headers: { host } })).status).toBe(200);
    },
  );
});

describe("a body", () => {
  const post = (chunks: readonly string[], headers: Record<string, string> = {}) => ({
    method: "POST",
    chunks,
    headers,
  });
  test("of exactly the limit is taken, with and without a length", async () => {
    const port = await start([echo]);
    const whole = "x".repeat(100);
    expect(await ask(port, "/echo", post([whole], { "content-length": "100" }))).toMatchObject({
      status: 200,
      body: whole,
    });
    expect(await ask(port, "/echo", post([whole.slice(0, 60), whole.slice(60)]))).toMatchObject({
      status: 200,
      body: whole,
    });
  });

  test("one byte over is refused with the limit, with and without a length", async () => {
    const port = await start([echo]);
    const answer = { status: 413, body: '{"error":"The body is larger than 100 bytes."}' };
    expect(await ask(port, "/echo", post(["x".repeat(101)], { "content-length": "101" }))).toMatchObject(answer);
    expect(await ask(port, "/echo", post(["x".repeat(60), "y".repeat(41)]))).toMatchObject(answer);
    expect(logged).toEqual([]);
  });

  test("that was cut off is refused as too large, though the route took it for a broken one", async () => {
    const lenient = async (request: Request) => {
      const text = await request.text().catch(() => "cut off");
      return new Response(text, { status: 422 });
    };
    const port = await start([{ ...echo, handle: lenient }]);
    expect((await ask(port, "/echo", post(["x".repeat(60), "y".repeat(60)]))).status).toBe(413);
  });

  test("counts bytes, not characters", async () => {
    expect((await ask(await start([echo]), "/echo", post(["👍".repeat(26)]))).status).toBe(413);
  });

  test("that is too large is not even read when its length says so", async () => {
    const seen: string[] = [];
    const port = await start([{ ...echo, handle: async (request) => new Response(String(seen.push(request.url))) }]);
    expect((await ask(port, "/echo", post(["x".repeat(500)], { "content-length": "500" }))).status).toBe(413);
    expect(seen).toEqual([]);
  });
});

describe("an error in a route", () => {
  test.each<[string, () => never]>([
    [
      "an error",
      () => {
        throw new Error("secret detail at /home/me");
      },
    ],
    [
      "something else",
      () => {
        throw "secret detail";
      },
    ],
  ])("shows nothing of %s, and logs no token of the path", async (_name, fail) => {
    const port = await start([route({ path: "/s/:token", handle: async () => fail() })]);
    const answer = await ask(port, "/s/one-time-token");
    expect(answer).toMatchObject({
      status: 500,
      body: '{"error":"Something went wrong on this side; the log says what."}',
    });
    expect(JSON.stringify(logged)).toContain("secret detail");
    expect(JSON.stringify(logged)).toContain("/s/:token");
    expect(JSON.stringify(logged)).not.toContain("one-time-token");
  });

  test("in health shows nothing either", async () => {
    const port = await start([], { health: async () => Promise.reject(new Error("secret detail")) });
    expect((await ask(port, "/healthz")).body).not.toContain("secret");
  });
});
