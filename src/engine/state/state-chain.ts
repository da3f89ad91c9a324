/**
 * A session's model state as a chain of content-addressed nodes (SPEC X5): the hash covers the parent, so a head names one exact past, and
 * committing the same node twice changes nothing.
 */

import { createHash } from "node:crypto";
import type { ModelMessage } from "../model-message.ts";
import type { StateNode } from "../store/store.ts";

/** The next node after `parent` (null for a session's first). */
export function nextNode(
  sessionId: string,
  parent: string | null,
  kind: StateNode["kind"],
  message: ModelMessage,
): StateNode {
  const hash = createHash("sha256")
    .update(`${sessionId}\n${parent ?? ""}\n${kind}\n`)
    .update(JSON.stringify(message))
    .digest("hex");
  return { hash, parent, kind, message };
}
