/** The life of a connection, with a server that exists only in memory and a clock that is moved by hand. */
import { expect, test } from "vitest";
import type { Clock, ToolContext } from "../../../src/engine/index.ts";
import { Connection } from "../../../src/tools/mcp/connection.ts";
import { toDefinitions } from "../../../src/tools/mcp/definitions.ts";
import {
  AnswerLostError,
  ConnectionLostError,
  type OpenClient,
  type OpenedClient,
} from "../../../src/tools/mcp/opened-client.ts";
import { pauseAfter } from "../../../src/tools/mcp/pace.ts";
import { pause, waitUntil } from "../../emulators/loopback.ts";
import { createMemoryKv } from "../../support/memory-kv.ts";

/** A clock whose waits end when it is moved past them. */
function handClock() {
  let now = 0;
  const waits = new Set<{ readonly at: number; readonly resolve: () => void }>();
  const clock: Clock = {
    now: () => now,
    delay: (ms, signal) =>
      new Promise((done) => {
        const wait = { at: now + ms, resolve: () => void [waits.delete(wait), done()] };
        waits.add(wait);
        if (signal?.aborted) wait.resolve();
        signal?.addEventListener("abort", wait.resolve, { once: true });
      }),
  };
  const move = async (ms: number) => {
    now += ms;
    for (const wait of [...waits]) if (wait.at <= now) wait.resolve();
    await pause(1);
  };
  return { clock, move, longest: () => Math.max(0, ...[...waits].map((wait) => wait.at - now)) };
}

interface Server {
  open: OpenClient;
  opened: number;
  fails: boolean;
  end(): void;
  call: OpenedClient["callTool"];
}

function fakeServer(): Server {
  let end: () => void = () => undefined;
  const server: Server = {
    opened: 0,
    fails: false,
    end: () => end(),
    call: async () => ({ content: [] }),
    async open() {
      server.opened += 1;
      if (server.fails) throw Object.assign(new Error("spawn nothing ENOENT"), { code: "ENOENT" });
      const closed = new Promise<void>((resolve) => {
        end = resolve;
      });
      const tool = { name: "one", description: "", inputSchema: {}, isReadOnly: false, isDestructive: false };
      return {
        closed,
        listTools: async () => ({ tools: [tool], omitted: 0 }),
        callTool: (name, args, options) => server.call(name, args, options),
        readResource: async () => ({}),
        ping: async () => undefined,
        close: async () => end(),
      };
    },
  };
  return server;
}

function world(server: Server, kv = createMemoryKv()) {
  const time = handClock();
  const quiet = () => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => log };
  const [definition] = toDefinitions({ it: { command: "nothing", timeoutSeconds: 60 } });
  if (!definition) throw new Error("no definition");
  const connection = new Connection(definition, {
    ...{ clock: time.clock, log, kv, random: () => 0.5, open: server.open },
    httpFor: () => async () => Response.error(),
    valuesFor: async () => ({ ok: true, values: {} }),
    elicit: async () => ({ action: "cancel" }),
    sample: async () => Promise.reject(new Error("no")),
  });
  const progress: string[] = [];
  const context = {
    signal: new AbortController().signal,
    showProgress: (text: string) => void progress.push(text),
  } as unknown as ToolContext;
  const until = (state: string) => waitUntil(() => connection.state === state, state);
  return { ...time, connection, context, progress, kv, until };
}

test("pauses between attempts double up to five minutes, a fifth more or less", () => {
  expect([1, 2, 3, 4, 9, 10, 500].map((failures) => pauseAfter(failures, 0.5))).toEqual([
    1000, 2000, 4000, 8000, 256_000, 300_000, 300_000,
  ]);
  expect(pauseAfter(1, 0)).toBe(800);
  expect(pauseAfter(10, 1)).toBe(360_000);
});

test("a server that cannot be started is tried again after growing pauses, and its trouble is one incident", async () => {
  const server = fakeServer();
  server.fails = true;
  const { connection, until, move } = world(server);
  connection.start();
  await until("reconnecting");
  const { incident } = connection;
  expect(connection.trouble).toBe('its program "nothing" was not found.');
  await move(999);
  expect(server.opened).toBe(1);
  await move(1);
  await waitUntil(() => server.opened === 2, "a second attempt");
  await pause(1);
  await move(1999);
  expect(server.opened).toBe(2);
  expect(connection.incident).toBe(incident);
  server.fails = false;
  await move(1);
  await until("connected");
  expect(connection.trouble).toBe("");
  server.end();
  await until("reconnecting");
  expect(connection.incident).not.toBe(incident);
  await connection.stop();
});

test("after a restart its tools are known before it is there", async () => {
  const first = world(fakeServer());
  first.connection.start();
  await first.until("connected");
  await first.connection.stop();
  const server = fakeServer();
  server.open = () => new Promise(() => undefined);
  const second = world(server, first.kv);
  second.connection.start();
  await waitUntil(() => second.connection.isUsable, "the remembered tools");
  expect(second.connection.state).toBe("starting");
  expect(second.connection.known.tools.map((tool) => tool.name)).toEqual(["one"]);
});

test("a call's limit begins anew with progress and ends the call alone", async () => {
  const server = fakeServer();
  let tell: (progress: { progress: number; total?: number }) => void = () => undefined;
  let told: AbortSignal | undefined;
  server.call = (_name, _args, { signal, onProgress }) => {
    tell = onProgress;
    told = signal;
    return new Promise(() => undefined);
  };
  const { connection, context, until, move, progress } = world(server);
  connection.start();
  await until("connected");
  const call = connection.call("one", {}, context);
  await pause(1);
  await move(59_000);
  tell({ progress: 1, total: 2 });
  await move(59_000);
  expect(told?.aborted).toBe(false);
  expect(progress).toEqual(["is using it: 50 %"]);
  await move(2000);
  expect(await call).toMatchObject({ end: "late" });
  expect(told?.aborted).toBe(true);
  server.call = async () => ({ content: [{ type: "text", text: "fine" }] });
  expect(await connection.call("one", {}, context)).toMatchObject({ end: "answered" });
  expect(server.opened).toBe(1);
  await connection.stop();
});

test("a call that a forgotten session did not take is made once more in a new one, at once", async () => {
  const server = fakeServer();
  server.call = async () => {
    if (server.opened === 1) throw new ConnectionLostError(true);
    return { content: [{ type: "text", text: "fine" }] };
  };
  const { connection, context, until } = world(server);
  connection.start();
  await until("connected");
  const both = await Promise.all([connection.call("one", {}, context), connection.call("one", {}, context)]);
  expect(both.map(({ end }) => end)).toEqual(["answered", "answered"]);
  expect(server.opened).toBe(2);
  expect(connection.state).toBe("connected");
  server.call = async () => Promise.reject(new ConnectionLostError(false));
  expect(await connection.call("one", {}, context)).toMatchObject({ end: "gone" });
  await until("connected");
  server.call = async () => Promise.reject(new ConnectionLostError(true));
  const before = server.opened;
  expect(await connection.call("one", {}, context)).toMatchObject({ end: "absent" });
  await until("connected");
  expect(server.opened).toBe(before + 2);
  await connection.stop();
});

test("a list that changes while it is read for the first time is read again", async () => {
  const server = fakeServer();
  const { open } = server;
  let lists = 0;
  server.open = async (request) => {
    const client = await open(request);
    const listTools: OpenedClient["listTools"] = (signal) => {
      lists += 1;
      if (lists === 1) request.onListChanged();
      return client.listTools(signal);
    };
    return { ...client, listTools };
  };
  const { connection, until } = world(server);
  connection.start();
  await until("connected");
  await waitUntil(() => lists === 2, "a second look");
  await connection.stop();
});

test("a server that floods a call with signs of progress is cut off and started anew", async () => {
  const server = fakeServer();
  server.call = (_name, _args, { onProgress }) => {
    for (let i = 0; i < 20_000; i += 1) onProgress({ progress: i });
    return new Promise(() => undefined);
  };
  const { connection, context, until } = world(server);
  connection.start();
  await until("connected");
  expect(await connection.call("one", {}, context)).toMatchObject({ end: "gone", text: expect.stringMatching(/anew/) });
  await waitUntil(() => server.opened === 2, "a new start");
  await connection.stop();
});

test("a server that says all the time that its list has changed is asked at growing intervals", async () => {
  const server = fakeServer();
  const { open } = server;
  let lists = 0;
  let changed: () => void = () => undefined;
  server.open = async (request) => {
    const client = await open(request);
    changed = () => request.onListChanged();
    const listTools: OpenedClient["listTools"] = (signal) => {
      lists += 1;
      return client.listTools(signal);
    };
    return { ...client, listTools };
  };
  const { connection, until, move } = world(server);
  connection.start();
  await until("connected");
  for (let i = 0; i < 150; i += 1) {
    changed();
    await move(100);
  }
  expect(lists).toBeGreaterThan(3);
  expect(lists).toBeLessThan(8);
  await connection.stop();
});

test("an answer that is not the protocol's is told apart from a program that ended", async () => {
  const server = fakeServer();
  server.open = async () => Promise.reject(new Error("Server's protocol version is not supported: 1999-01-01"));
  const { connection, until } = world(server);
  connection.start();
  await until("reconnecting");
  expect(connection.trouble).toBe("what it answers is not MCP as it is understood here.");
  await connection.stop();
});

test("an answer of no use is not a refusal: what was asked may have been done", async () => {
  const server = fakeServer();
  server.call = async () => Promise.reject(new AnswerLostError("it answered with an error of its own (502)."));
  const { connection, context, until } = world(server);
  connection.start();
  await until("connected");
  expect(await connection.call("one", {}, context)).toMatchObject({ end: "gone" });
  expect(connection.state).toBe("connected");
  await connection.stop();
});

test("a call while the server is away says so at once, and one whose server goes away is not reported as done", async () => {
  const server = fakeServer();
  server.call = () => new Promise(() => undefined);
  const { connection, context, until } = world(server);
  connection.start();
  await until("connected");
  const call = connection.call("one", {}, context);
  await pause(1);
  server.end();
  expect(await call).toMatchObject({ end: "gone" });
  await until("reconnecting");
  expect(await connection.call("one", {}, context)).toMatchObject({ end: "absent", text: "it ended." });
  await connection.stop();
});
