/** The web server's own life: a port that is taken, and what becomes of requests when it closes. */
import { expect, test } from "vitest";
import { ask, nothing, route, servers, start } from "./support/web-server.ts";

test("a port that is taken rejects", async () => {
  const port = await start([]);
  await expect(start([], { port })).rejects.toThrow("EADDRINUSE");
});

test("closing lets a request finish that is being worked on", async () => {
  let begin: () => void = nothing;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let finish: () => void = nothing;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const handle = async () => {
    begin();
    await finished;
    return new Response("done");
  };
  const port = await start([route({ path: "/slow", handle })]);
  const call = ask(port, "/slow");
  await begun;
  const closed = servers.pop()?.close();
  finish();
  expect((await call).body).toBe("done");
  await closed;
});

test("closing ends open connections", async () => {
  const hangs = route({ path: "/hang", handle: () => new Promise<Response>(nothing) });
  const port = await start([hangs]);
  const call = ask(port, "/hang").catch((error: NodeJS.ErrnoException) => error.code);
  await expect.poll(() => ask(port, "/healthz").then((answer) => answer.status)).toBe(200);
  await servers.pop()?.close();
  expect(await call).toBe("ECONNRESET");
});
