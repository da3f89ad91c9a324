/** What the files of routing/ share: the parts they are given and the message they decide about. */

import type { BotHandle, Installation } from "../bot.ts";
import type { ConversationRef } from "../conversation.ts";
import type { MessageEvent } from "../inbound-event.ts";
import type { Log, Metrics } from "../log.ts";
import type { Role } from "../person.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { EngineSettings } from "../settings.ts";
import type { PlaceView, Store } from "../store/store.ts";
import type { HostCards } from "./host-cards.ts";
import type { Installations } from "./installations.ts";
import type { SecretIntake } from "./secret-intake.ts";

/** Handed in by createEngine. */
export interface RouterParts {
  readonly store: Store;
  readonly queue: RunQueue;
  readonly installations: Installations;
  readonly hostCards: HostCards;
  readonly secrets: SecretIntake;
  readonly settings: EngineSettings;
  readonly log: Log;
  readonly metrics: Metrics;
  /** A card was answered: its redraw is owed. */
  readonly onSettleOwed: () => void;
}

/** A message together with everything needed to decide about it. */
export interface MessageCase {
  readonly event: MessageEvent;
  readonly ref: ConversationRef;
  readonly key: string;
  readonly view: PlaceView;
  readonly installation: Installation;
  readonly bots: readonly BotHandle[];
  readonly role: Role;
}
