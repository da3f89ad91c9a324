/**
 * What a turn's beginning finds out about its place: the route of its first mail, and on first contact in an existing thread what was said there
 * before. A platform that is slow or refuses never holds up the turn: then it begins without that context.
 */

import type { Adapter } from "../adapter.ts";
import type { Route } from "../conversation.ts";
import type { Mail } from "../mail.ts";
import type { NewEntry, SessionView } from "../store/store.ts";
import type { TurnParts } from "./turn-run.ts";

const HISTORY_LIMIT = 30;
const HISTORY_MS = 8000;

/** Where a turn speaks that begins with this mail. */
export function firstRoute(view: SessionView, mail: readonly Mail[]): Route {
  const named = mail[0]?.route.split("|")[1];
  const installationId = named ?? view.installation?.id ?? view.session.installationId ?? "";
  const { platform, workspaceId, kind, channelId, threadId, channelName } = view.conversation;
  const ref = {
    platform,
    workspaceId,
    kind,
    channelId,
    ...(threadId ? { threadId } : {}),
    ...(channelName ? { channelName } : {}),
  };
  return { conversationKey: view.conversation.key, ref, installationId };
}

/** First contact in an existing thread: its root and newest replies become context entries, once (SPEC I4). */
export async function loadContext(
  parts: TurnParts,
  view: SessionView,
  adapter: Adapter,
  mail: readonly Mail[],
): Promise<void> {
  const { conversation } = view;
  if (conversation.kind !== "thread" || conversation.contextLoaded) return;
  const route = firstRoute(view, mail);
  const late = new AbortController();
  const timeout = parts.clock.delay(HISTORY_MS, late.signal).then(() => []);
  const history = adapter.history(route.installationId, route.ref, HISTORY_LIMIT).catch((error: unknown) => {
    parts.log.warn(
      { conversationKey: conversation.key, error: String(error) },
      "earlier messages of the thread could not be read",
    );
    return [];
  });
  const found = await Promise.race([history, timeout]).finally(() => late.abort());
  const entries = found.map(
    (item): NewEntry => ({
      author: { kind: item.from.kind === "bot" ? "bot" : "person", id: item.from.id, name: item.from.name },
      kind: "context",
      platformId: item.platformId,
      at: item.at,
      text: item.text,
      body: {},
      files: [],
    }),
  );
  await parts.store.addContext(conversation.key, entries);
}
