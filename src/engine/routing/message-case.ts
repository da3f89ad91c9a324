/** A message together with everything needed to decide about it. */

import type { BotHandle, Installation } from "../bot.ts";
import type { ConversationRef } from "../conversation.ts";
import type { MessageEvent } from "../inbound-event.ts";
import type { Role } from "../person.ts";
import type { PlaceView } from "../store/store.ts";

/** A message together with everything needed to decide about it. */
export interface MessageCase {
  readonly event: MessageEvent;
  readonly ref: ConversationRef;
  readonly key: string;
  readonly view: PlaceView;
  readonly installation: Installation;
  readonly bots: readonly BotHandle[];
  readonly role: Role;
  /** An earlier copy was taken in when this bot was not known to be here: only it is woken now. */
  readonly onlyBot?: string;
}

/** In a direct message the adapter may name a thread root to answer under; elsewhere it is the message itself. */
export function nativeReplyTo(item: {
  readonly event: { readonly platformId: string; readonly opensThread?: string | undefined };
  readonly ref: ConversationRef;
}): string {
  return item.ref.kind === "direct" ? (item.event.opensThread ?? item.event.platformId) : item.event.platformId;
}
