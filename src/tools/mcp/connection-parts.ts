/** What a connection is made with, and whose tokens it uses. Types only. */

import type { Clock, KeyValueStore, Log } from "../../engine/index.ts";
import type { Flight } from "./connection-call.ts";
import type { ConnectorDefinition } from "./definitions.ts";
import type { ElicitationReply, OpenClient, OpenRequest, SamplingReply } from "./opened-client.ts";

/** What connections are made with. */
export interface ConnectionParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly kv: KeyValueStore;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
  readonly open: OpenClient;
  readonly httpFor: (definition: ConnectorDefinition) => OpenRequest["http"];
  /** Env or headers with the vault's values filled in, or the names of those that are missing. */
  readonly valuesFor: (definition: ConnectorDefinition) => Promise<FilledValues>;
  /** Answers a server's question to the person of the call that is running; `flights` are all calls that are. */
  readonly elicit: (flights: readonly Flight[], params: unknown, signal: AbortSignal) => Promise<ElicitationReply>;
  readonly sample: (definition: ConnectorDefinition, params: unknown, signal: AbortSignal) => Promise<SamplingReply>;
}

/** Filled-in values, or why they cannot be. */
export type FilledValues =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly missing: readonly string[] };

/** Whose tokens a connection uses. */
export interface ConnectionAccount {
  /** The SDK's client provider. */
  readonly auth?: unknown;
  /** Set for a person's own connection. */
  readonly personId?: string;
}
