/**
 * Bots that are not ours, where the settings let them be heard (SPEC I7): so that two bots never answer each other for ever, one of them is heard
 * at most 20 times a minute in a channel, and at most 24 messages of such bots are heard after the last person spoke there.
 */

import type { MessageCase } from "./message-case.ts";
import type { RouterParts } from "./router-parts.ts";

/** Messages of one foreign bot in a channel within PAIR_MS. */
const PAIR_TURNS = 20;
const PAIR_MS = 60_000;
/** Messages of foreign bots since a person last spoke; the same number as for our own bots among themselves. */
const MAX_HOPS = 24;

/** True when this bot has been heard enough for now; the message is not taken in then, and nobody is told. */
export async function mustRest(parts: RouterParts, item: MessageCase): Promise<boolean> {
  const { from } = item.event;
  const { recent, sincePerson } = await parts.store.foreignTraffic(item.ref, from.id, PAIR_MS);
  if (recent < PAIR_TURNS && sincePerson < MAX_HOPS) return false;
  parts.log.info({ bot: from.id, recent, sincePerson }, "a foreign bot is not heard for now");
  return true;
}
