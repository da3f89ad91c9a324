/**
 * Which part of the emulator answers which address.
 * Anything unknown is 404; each part checks its own requests.
 */
import type { Arrived } from "../loopback.ts";
import { sendText } from "../loopback.ts";
import { serveMethod } from "./api.ts";
import { serveResponseUrl } from "./interactions.ts";
import { serveDownload, serveUpload } from "./methods/files.ts";
import { METHODS } from "./methods/index.ts";
import { servePage } from "./page.ts";
import type { Workspace } from "./workspace.ts";

/** Answers one HTTP request. */
export async function route(workspace: Workspace, arrived: Arrived): Promise<void> {
  const path = arrived.url.pathname;
  const api = /^\/api\/([\w.]+)$/.exec(path)?.[1];
  if (api) return serveMethod(workspace, METHODS, api, arrived);
  const upload = /^\/upload\/v1\/(F[A-Z0-9]+)$/.exec(path)?.[1];
  if (upload) return serveUpload(workspace, arrived, upload);
  const download = /^\/files-pri\/[A-Z0-9]+-(F[A-Z0-9]+)\//.exec(path)?.[1];
  if (download) return serveDownload(workspace, arrived, download);
  const response = /^\/response\/([A-Z0-9]+)$/.exec(path)?.[1];
  if (response) return serveResponseUrl(workspace, arrived, response);
  if (!(await servePage(workspace, arrived))) sendText(arrived.response, 404, "not found");
}
