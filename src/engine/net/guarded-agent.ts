/**
 * The connection pool of the download guard: undici's Agent with a connector that checks the host before any socket is opened.
 * Invariant: an IP literal is checked here because sockets skip name lookup for literals; a name is checked inside the lookup whose answer the socket
 * uses, so the address checked and the address connected to are the same. Certificates are checked by Node's defaults (NODE_EXTRA_CA_CERTS counts).
 */
import type { LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import { TransferError } from "../download.ts";
import type { HostRules } from "./host-rules.ts";

/** Milliseconds for name lookup, TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 10_000;

/** A pool for one guard. `ca` replaces the trusted authorities (PEM). Idle connections close by themselves and never keep the process alive. */
export function createGuardedAgent(rules: HostRules, ca?: string): Agent {
  const connect = buildConnector({
    allowH2: false,
    timeout: CONNECT_TIMEOUT_MS,
    lookup: createCheckedLookup(rules),
    ...(ca === undefined ? {} : { ca }),
  });
  return new Agent({
    maxHeaderSize: 32_768,
    connect(target, callback) {
      try {
        rules.checkLiteral(target.hostname);
      } catch (error) {
        callback(toError(error), null);
        return;
      }
      connect(target, callback);
    },
  });
}

/** Node's callback shape around `rules.resolve`; sockets ask for all answers (happy eyeballs) or for the first. */
function createCheckedLookup(rules: HostRules): LookupFunction {
  return (hostname, options, callback) => {
    rules.resolve(hostname).then(
      (answers) => {
        const first = answers[0];
        if (options.all === true) callback(null, [...answers]);
        else callback(null, first?.address ?? "", first?.family);
      },
      (error: unknown) => callback(toError(error), []),
    );
  };
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new TransferError("connection", "The connection failed.", { cause: error });
}
