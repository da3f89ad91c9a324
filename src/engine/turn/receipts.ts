/**
 * Receipts (SPEC M14): shows on each message of a person that a bot has taken it, and takes the sign away when the turn is over, however it ends. A turn
 * that another process takes up after a crash shows and takes away the same ones.
 * Invariant: only looks: nothing waits for a receipt, and no failure of one disturbs the turn. The sign never stays because its removal overtook it.
 */

import type { Mail } from "../mail.ts";
import { placeOf, type TurnRun } from "./turn-run.ts";

/** The receipts of one turn. */
export interface Receipts {
  /** Mail that joined the turn. */
  readonly note: (mail: readonly Mail[]) => void;
  /** The turn is over. */
  end(): void;
}

/** Begins with the mail the turn has. Does nothing, and asks the store for nothing, where the platform is set to show none. */
export function keepReceipts(run: TurnRun): Receipts {
  const shown = new Map<string, Promise<void>>();
  let all = Promise.resolve();
  let over = false;
  const mark = async (nativeId: string, taken: boolean) => {
    try {
      await run.adapter.markTaken?.(placeOf(run), nativeId, taken);
    } catch (error) {
      run.parts.log.debug({ turnId: run.turn.id, taken, error: String(error) }, "receipt not shown");
    }
  };
  const show = async (mail: readonly Mail[]) => {
    for (const id of await messagesOf(run, mail)) if (!over && !shown.has(id)) shown.set(id, mark(id, true));
  };
  const note = (mail: readonly Mail[]) => {
    if (!run.adapter.markTaken) return;
    all = Promise.all([all, show(mail)]).then(() => undefined);
  };
  note(run.mail);
  return {
    note,
    end() {
      over = true;
      void all.then(() => shown.forEach((begun, id) => void begun.then(() => mark(id, false))));
    },
  };
}

/** Native ids of the people's messages behind mail; an answer by a control has none. */
async function messagesOf(run: TurnRun, mail: readonly Mail[]): Promise<readonly string[]> {
  const ids = mail.flatMap(({ kind, entryId }) => (kind === "person" && entryId ? [entryId] : []));
  if (ids.length === 0) return [];
  try {
    const entries = await run.parts.store.readEntriesById(ids);
    return entries.flatMap(({ author, platformId }) => (author.kind === "person" && platformId ? [platformId] : []));
  } catch (error) {
    run.parts.log.debug(
      { turnId: run.turn.id, error: String(error) },
      "messages of a turn could not be read for receipts",
    );
    return [];
  }
}
