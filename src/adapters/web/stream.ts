/**
 * GET /api/stream: the live updates of one person's places as Server-Sent Events.
 * Invariant: only the ids this person may watch are taken from the cursor the page sends, so a forged cursor opens nothing.
 */

import type { Hub } from "./hub.ts";
import { parseCursor } from "./live.ts";
import { watchedIds } from "./state.ts";
import { WORKSPACE_LOG } from "./timeline.ts";
import type { WirePerson } from "./wire.ts";

/** Continues after the browser's Last-Event-ID, or after the cursor in `?after=` on a first connection. */
export async function openStream(hub: Hub, person: WirePerson, request: Request): Promise<Response> {
  const after = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("after") ?? "";
  const body = hub.live.open({ cursor: parseCursor(after), channels: rememberIds(hub, person) });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    },
  });
}

/** The list of channels is read again only when the workspace's log says that it changed. */
function rememberIds(hub: Hub, person: WirePerson): () => Promise<readonly string[]> {
  let ids: readonly string[] | undefined;
  let seen = 0;
  return async () => {
    const newest = ids
      ? (await hub.timeline.after(WORKSPACE_LOG, seen)).at(-1)?.seq
      : await hub.timeline.head(WORKSPACE_LOG);
    if (ids && newest === undefined) return ids;
    ids = await watchedIds(hub, person);
    seen = newest ?? seen;
    return ids;
  };
}
