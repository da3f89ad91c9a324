/**
 * What connectors offered a session when its cycle began, kept so that the tools in its requests stay byte for byte the same until the next cycle
 * (SPEC X2, X4), also in another process. Equal offers of many sessions are stored once, as text, because the database would reorder keys.
 */

import { createHash } from "node:crypto";
import type { KeyValueStore } from "../adapter.ts";
import type { ConnectorOffer } from "../connector.ts";
import type { Session } from "../session.ts";

/** The offer of a session's cycle, and what its model was last told about connectors in trouble. */
export interface KeptOffer {
  readonly offer: ConnectorOffer;
  readonly told: readonly string[];
}

/** Kept offers over a key-value scope of their own. */
export interface KeptOffers {
  /**
   * The cycle's offer; made by `make` and kept when the cycle has none yet. `told` of a new one is what `make` knew. An offer without any connector is
   * not kept: there is nothing to keep stable, and the first connector is offered as soon as it is there.
   */
  keep(session: Pick<Session, "id" | "cycle">, make: () => Promise<KeptOffer>): Promise<KeptOffer>;
  /** Remembers what the model has been told by now. */
  tell(session: Pick<Session, "id" | "cycle">, told: readonly string[]): Promise<void>;
}

interface Row {
  readonly cycle: number;
  readonly hash: string;
  readonly told: readonly string[];
}

/** One per process. Only the holder of a session's claim calls for that session. */
export function createKeptOffers(kv: KeyValueStore): KeptOffers {
  const read = async (session: Pick<Session, "id" | "cycle">): Promise<Row | undefined> => {
    const row = (await kv.get(`session:${session.id}`)) as Row | undefined | null;
    return row && row.cycle === session.cycle ? row : undefined;
  };
  return {
    async keep(session, make) {
      const row = await read(session);
      const text = row ? await kv.get(`offer:${row.hash}`) : undefined;
      if (row && typeof text === "string") return { offer: JSON.parse(text) as ConnectorOffer, told: row.told };
      const made = await make();
      if (made.offer.capabilities === "") return made;
      const written = JSON.stringify(made.offer);
      const hash = createHash("sha256").update(written).digest("hex");
      await kv.insert(`offer:${hash}`, written);
      await kv.set(`session:${session.id}`, { cycle: session.cycle, hash, told: made.told });
      return made;
    },
    async tell(session, told) {
      const row = await read(session);
      if (row) await kv.set(`session:${session.id}`, { ...row, told });
    },
  };
}
