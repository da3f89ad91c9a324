/** What the files of routing/ are given by createEngine. */

import type { Clock } from "../clock.ts";
import type { AdapterLookup } from "../delivery/render-delivery.ts";
import type { Log, Metrics } from "../log.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { EngineSettings } from "../settings.ts";
import type { Store } from "../store/store.ts";
import type { HostCards } from "./host-cards.ts";
import type { Installations } from "./installations.ts";
import type { Membership } from "./membership.ts";
import type { SecretIntake } from "./secret-intake.ts";

/** Handed in by createEngine. */
export interface RouterParts {
  readonly store: Store;
  readonly adapters: AdapterLookup;
  readonly queue: RunQueue;
  readonly installations: Installations;
  readonly hostCards: HostCards;
  readonly membership: Membership;
  readonly clock: Clock;
  readonly secrets: SecretIntake;
  readonly settings: EngineSettings;
  readonly log: Log;
  readonly metrics: Metrics;
  /** A card was answered: its redraw is owed. */
  readonly onSettleOwed: () => void;
  /** Uploads wait to be fetched. */
  readonly onFilesDue: () => void;
}
