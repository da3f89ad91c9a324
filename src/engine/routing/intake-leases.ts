/**
 * Which process listens for a bot's events (SPEC O1): of all that could, the one that holds the bot's lease. The others stand by, and take over when
 * it ends or stops renewing. Only for platforms where a bot should have one live connection.
 * Invariant: a process that could not renew for as long as a lease lasts stops listening by itself.
 */

import type { Adapter } from "../adapter.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store/store.ts";

const LEASE_MS = 15_000;
/** Longest wait for connections to close before their leases are given back all the same. */
const DEAF_MS = 2500;
/** How often leases are renewed and free ones tried: a lost gateway is replaced within LEASE_MS and this. */
export const LEASE_EVERY_MS = 4000;

/** The leases of this process. */
export interface IntakeLeases {
  /** Looks after a started bot from now on; resolves after the first try. */
  add(adapter: Adapter, botId: string): Promise<void>;
  /** Renews what is held and tries what is not. */
  pass(): Promise<void>;
  /** Gives everything back, so that others take over at once. */
  release(): Promise<void>;
}

interface Watched {
  readonly adapter: Adapter;
  readonly botId: string;
  readonly name: string;
  listens: boolean;
  renewedAt: number;
}

/** Leases over the store. */
export function createIntakeLeases(parts: {
  readonly store: Store;
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Log;
}): IntakeLeases {
  const all: Watched[] = [];
  let released = false;

  const listen = async (one: Watched, on: boolean): Promise<void> => {
    if (one.listens === on) return;
    one.listens = on;
    parts.log.info({ botId: one.botId, platform: one.adapter.platform, listens: on }, "intake");
    await one.adapter.setIntake?.(one.botId, on);
  };

  const look = async (one: Watched): Promise<void> => {
    if (released) return;
    try {
      const held = await parts.store.holdLease({ name: one.name, owner: parts.owner, leaseMs: LEASE_MS });
      if (held) one.renewedAt = parts.clock.now();
      await listen(one, held && !released);
    } catch (error) {
      parts.log.warn({ botId: one.botId, error: String(error) }, "intake lease not renewed");
      if (parts.clock.now() - one.renewedAt > LEASE_MS) await listen(one, false);
    }
  };

  return {
    async add(adapter, botId) {
      const name = `intake:${adapter.platform}:${botId}`;
      const one = { adapter, botId, name, listens: false, renewedAt: parts.clock.now() };
      all.push(one);
      await look(one);
    },
    async pass() {
      await Promise.all(all.map(look));
    },
    async release() {
      released = true;
      const held = all.filter((one) => one.listens);
      // First deaf, then free: whoever takes over must not find this process still connected.
      const deaf = Promise.all(held.map((one) => listen(one, false)));
      await Promise.race([deaf, parts.clock.delay(DEAF_MS)]);
      await Promise.all(held.map((one) => parts.store.releaseLease({ name: one.name, owner: parts.owner })));
    },
  };
}
