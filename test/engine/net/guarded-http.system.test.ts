/** Requests of connectors through the download guard: which addresses are asked at all, and how much one answer may hold. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createGuardedHttp } from "../../../src/engine/net/guarded-http.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const listed = createGuardedHttp({ allowPrivateHosts: ["127.0.0.1"], maxMessageBytes: 1000 });
const strict = createGuardedHttp({ allowPrivateHosts: [], maxMessageBytes: 1000 });

test("a private address is asked only when it is listed, and so is plain http", async () => {
  let asked = 0;
  const url = await serve((request, response) => {
    asked += 1;
    request.resume().on("end", () => response.end("here"));
  });
  await expect(strict(url)).rejects.toThrow(/Only https/);
  await expect(strict(url.replace("http:", "https:"))).rejects.toThrow(/loopback/);
  expect(asked).toBe(0);
  expect(await (await listed(url, { method: "POST", body: "hello" })).text()).toBe("here");
});

test("a redirect to a private address that is not listed is refused", async () => {
  const url = await serve((_request, response) => response.writeHead(302, { location: "https://10.0.0.1/" }).end());
  await expect(listed(url)).rejects.toThrow(/private network/);
});

test("an answer has at most the given bytes; of a stream each event has", async () => {
  const url = await serve((request, response) => {
    const isStream = request.url === "/stream";
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    const event = `data: ${"x".repeat(600)}\n\n`;
    response.write(event);
    setImmediate(() => response.end(event));
  });
  await expect((await listed(url)).text()).rejects.toThrow(/larger than 1000 bytes/);
  expect((await (await listed(`${url}/stream`)).text()).length).toBe(1216);
});
