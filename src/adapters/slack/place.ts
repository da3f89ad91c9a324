/** Where a piece goes in Slack's terms: its thread, and the budget it is paced by. */

import type { Place } from "../../engine/index.ts";

const TS = /^\d{1,12}\.\d{6}$/;

/** The thread a place answers in; undefined for the channel itself. Never empty, and never something that is no Slack time. */
export function threadOf(place: Place): string | undefined {
  const { ref, nativeReplyTo } = place;
  if (ref.kind === "thread") return ref.threadId || undefined;
  return ref.kind === "direct" && nativeReplyTo !== undefined && TS.test(nativeReplyTo) ? nativeReplyTo : undefined;
}

/** True for Slack's id of a message. */
export function isTs(nativeId: string): boolean {
  return TS.test(nativeId);
}

/** The budget all bots of a channel share. */
export function budgetKey(place: Place): string {
  return `${place.ref.workspaceId}:${place.ref.channelId}`;
}
