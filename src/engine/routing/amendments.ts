/**
 * Edits and deletions of people's messages (SPEC T6): waiting mail is replaced or cancelled, text being worked on becomes a steering note,
 * anything later is only marked. Never a new turn.
 */

import { conversationKey } from "../conversation.ts";
import type { DeleteEvent, EditEvent, Reception } from "../inbound-event.ts";
import type { RouterParts } from "./router-parts.ts";

/** Applies an edit or deletion to whichever conversation holds the message: the place itself, or the thread it opened. */
export async function amendEvent(parts: RouterParts, event: EditEvent | DeleteEvent): Promise<Reception> {
  const own = conversationKey(event.conversation);
  const opened = conversationKey({ ...event.conversation, kind: "thread", threadId: event.platformId });
  for (const key of event.conversation.kind === "channel" ? [opened, own] : [own, opened]) {
    const result = await parts.store.amendMessage({
      dedupeKey: event.dedupeKey,
      conversationKey: key,
      platformId: event.platformId,
      mark:
        event.type === "edit"
          ? { kind: "edited", text: event.text, at: event.at.toISOString() }
          : { kind: "deleted", at: event.at.toISOString() },
      steering: steeringNote(event),
    });
    if (result.status === "unknown") continue;
    if (result.status === "steered") {
      for (const { sessionId, rank } of result.woken) {
        parts.queue.ring(sessionId, rank);
        parts.queue.signal(sessionId, "steer");
      }
    }
    return { status: result.status === "duplicate" ? "duplicate" : "accepted" };
  }
  return { status: "ignored" };
}

function steeringNote(event: EditEvent | DeleteEvent): string {
  return event.type === "edit"
    ? `The message you are working on was edited. It now reads:\n${event.text}`
    : "The message you are working on was deleted by its author. Finish without answering it unless something else still needs you.";
}
