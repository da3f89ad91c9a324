/**
 * The playground's addresses: the page, its assets and files, and the JSON API under /api. Each handler checks the request, calls one function
 * of this adapter and answers; refusals are JSON that says what is wrong.
 * Invariant: everything behind a name needs the person's cookie, and a person reaches only places they may read.
 */

import type { AdapterRoute } from "../../engine/index.ts";
import { serveFile, takeUpload } from "./files.ts";
import { HttpProblem, json, problem, readJson, requireSameOrigin, textField } from "./http.ts";
import type { Hub } from "./hub.ts";
import { MAX_JSON_BYTES, MAX_UPLOAD_BYTES } from "./limits.ts";
import type { Page } from "./page.ts";
import { checkName } from "./people.ts";
import { answer, dismiss, markRead, secret, send, stop } from "./person-requests.ts";
import { createChannel, readPage, readState, setChannelBots } from "./state.ts";
import { openStream } from "./stream.ts";
import { WORKSPACE_LOG } from "./timeline.ts";

type Handle = AdapterRoute["handle"];

/** All routes behind the console password. */
export function playgroundRoutes(hub: Hub, page: Page): readonly AdapterRoute[] {
  const get = (path: string, handle: Handle) => route("GET", path, 0, guard(hub, handle));
  const post = (path: string, handle: Handle, maxBody = MAX_JSON_BYTES) =>
    route("POST", path, maxBody, guard(hub, handle));
  return [
    route("GET", "/", 0, (request) => page.index(request)),
    route("GET", "/assets/:file", 0, (_request, { file }) => page.asset(file ?? "")),
    get("/files/:name", (request, { name }) => serveFile(hub, request, name ?? "")),
    get("/api/state", async (request) => json(await readState(hub, await hub.people.ofRequest(request)))),
    get("/api/stream", async (request) => openStream(hub, await me(hub, request), request)),
    get("/api/channels/:channel/posts", async (request, { channel }) =>
      json(await readPage(hub, await me(hub, request), channel ?? "", new URL(request.url).searchParams.get("before"))),
    ),
    post("/api/me", (request) => chooseName(hub, request)),
    post("/api/files", async (request) => takeUpload(hub, await me(hub, request), request), MAX_UPLOAD_BYTES),
    post("/api/channels", async (request) => createChannel(hub, await me(hub, request), await readJson(request))),
    post("/api/channels/:channel/bots", async (request, { channel }) =>
      setChannelBots(hub, await me(hub, request), channel ?? "", await readJson(request)),
    ),
    post("/api/channels/:channel/messages", async (request, { channel }) =>
      send(hub, await me(hub, request), channel ?? "", await readJson(request)),
    ),
    post("/api/channels/:channel/read", async (request, { channel }) =>
      markRead(hub, await me(hub, request), channel ?? "", await readJson(request)),
    ),
    post("/api/channels/:channel/stop", async (request, { channel }) => {
      requireSameOrigin(request);
      return stop(hub, await me(hub, request), channel ?? "");
    }),
    post("/api/answers", async (request) => answer(hub, await me(hub, request), await readJson(request))),
    post("/api/dismissals", async (request) => dismiss(hub, await me(hub, request), await readJson(request))),
    post("/api/secrets", async (request) => secret(hub, await me(hub, request), await readJson(request))),
  ];
}

function route(method: "GET" | "POST", path: string, maxBody: number, handle: Handle): AdapterRoute {
  return { method, path, guarded: true, maxBody, handle };
}

/** Refusals become JSON; anything unexpected becomes a 503 that makes the page try again, with the cause in the log only. */
function guard(hub: Hub, handle: Handle): Handle {
  return async (request, parameters) => {
    try {
      if (hub.bots.size === 0) throw new HttpProblem(503, "The server is starting or stopping. Try again in a moment.");
      return await handle(request, parameters);
    } catch (error) {
      if (error instanceof HttpProblem) return problem(error.status, error.message);
      hub.log.error({ err: error }, "a playground request failed");
      return problem(503, "This could not be stored right now. It will be tried again.");
    }
  };
}

async function me(hub: Hub, request: Request) {
  const person = await hub.people.ofRequest(request);
  if (!person) throw new HttpProblem(401, 'Choose a name first: POST /api/me {"name": "…"}.');
  return person;
}

async function chooseName(hub: Hub, request: Request): Promise<Response> {
  const checked = checkName(textField(await readJson(request), "name", 'Send a name: {"name": "…"}.'));
  if ("error" in checked) throw new HttpProblem(422, checked.error);
  const bot = [...hub.bots.values()].find((one) => one.account.name.toLowerCase() === checked.name.toLowerCase());
  if (bot) throw new HttpProblem(422, `${bot.account.name} is the name of a bot here. Please choose another.`);
  const known = await hub.people.ofRequest(request);
  const secure = hub.publicUrl.startsWith("https:") || new URL(request.url).protocol === "https:";
  const made = known
    ? { person: await hub.people.rename(known.id, checked.name) }
    : await hub.people.create(checked.name, secure);
  await hub.timeline.append(WORKSPACE_LOG, { type: "workspace", once: `name/${made.person.id}/${hub.clock.now()}` });
  return json(made.person, 200, "cookie" in made ? { "set-cookie": made.cookie } : {});
}
