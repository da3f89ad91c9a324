/**
 * Downloads of attachments: recorded like any request (route `download`), with the same faults.
 */
import type { Arrived } from "../loopback.ts";
import { serveFile } from "./cdn.ts";
import { takeFault } from "./faults.ts";
import type { DiscordRequest } from "./model.ts";
import { failBefore } from "./rest.ts";
import type { World } from "./world.ts";

/** Serves one download; `acceptThen: "drop"` breaks off half-way. */
export async function serveDownload(world: World, arrived: Arrived): Promise<void> {
  const { request, response, url, headers } = arrived;
  const download: DiscordRequest = {
    method: request.method ?? "GET",
    path: url.pathname,
    route: "download",
    query: url.searchParams,
    headers,
    bot: null,
    at: Date.now(),
    body: {},
    files: [],
    status: 0,
    answer: undefined,
  };
  world.requests.push(download);
  const fault = takeFault(world.faults, download);
  if (fault && (await failBefore(world, arrived, download, fault))) return;
  if (fault && "acceptThen" in fault) {
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 1_000_000 });
    response.write(Buffer.alloc(1000));
    if (fault.acceptThen === "drop") setImmediate(() => request.socket.destroy());
    return;
  }
  download.status = serveFile(world, arrived);
}
