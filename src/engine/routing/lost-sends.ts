/**
 * A bubble that finally could not be posted after its turn had ended (SPEC M7): the bot is woken as background mail so that it can mend it, and the
 * operator sees a line in the log.
 */

import type { Log } from "../log.ts";
import { MAIL_RANK } from "../mail.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { ClosedPiece, Store } from "../store/store.ts";

/** Reports once per bubble, whoever closed its last piece. Failures to report are logged; the operator's line exists already. */
export function reportLostSend(lost: {
  readonly store: Store;
  readonly queue: RunQueue;
  readonly log: Log;
  readonly closed: ClosedPiece;
  readonly sessionId: string;
  readonly problem: string | undefined;
}): void {
  const { closed, sessionId, log } = lost;
  const why = lost.problem ?? "the platform did not take it";
  log.error({ entryId: closed.entryId, sessionId, why }, "a message was lost after its turn had ended");
  const mail = {
    kind: "background" as const,
    body: {
      type: "host" as const,
      text: `A message you sent earlier could not be delivered after all: ${why}. Nobody saw it.`,
    },
    route: sessionId,
    audience: "host",
    hops: 0,
    orderAt: new Date(),
  };
  lost.store
    .postMail({ sessionId, mail, entryId: closed.entryId, dedupeKey: `lost:${closed.entryId}` })
    .then((posted) => posted && lost.queue.ring(sessionId, MAIL_RANK.background))
    .catch((error: unknown) =>
      log.error({ sessionId, error: String(error) }, "the bot could not be told of a lost message"),
    );
}
