/**
 * The workspace that is handed to every function of the emulator, so that several can run in one process, and the
 * few things everybody needs from it: ids, timestamps, timers.
 * Invariant: timestamps rise and never repeat; nothing scheduled here runs after the workspace was closed.
 */
import { randomBytes } from "node:crypto";
import type { DisturbanceRule, FaultRule } from "./faults.ts";
import type { DeliveryRecord, Line } from "./line.ts";
import type {
  App,
  Channel,
  Ephemeral,
  Grant,
  Refusal,
  ResponseUrl,
  SlackRequest,
  StatusLine,
  StoredFile,
  StoredMessage,
  StoredView,
  Team,
  Trigger,
  User,
  Usergroup,
} from "./model.ts";

/** Times in milliseconds; see `startSlack` for the defaults. */
export interface Timing {
  ackTimeoutMs: number;
  retryDelaysMs: number[];
  keepUndeliveredMs: number;
  shareDelayMs: number;
  triggerMs: number;
  twinGapMs: number;
}

/** Everything the emulator knows; handed to every function, so several workspaces can run in one process. */
export interface Workspace {
  base: string;
  readonly timing: Timing;
  readonly team: Team;
  readonly apps: App[];
  readonly users: Map<string, User>;
  readonly channels: Map<string, Channel>;
  readonly files: Map<string, StoredFile>;
  readonly views: StoredView[];
  readonly triggers: Map<string, Trigger>;
  readonly responseUrls: Map<string, ResponseUrl>;
  readonly usergroups: Map<string, Usergroup>;
  readonly requests: SlackRequest[];
  readonly refusals: Refusal[];
  readonly ephemerals: Ephemeral[];
  readonly statuses: StatusLine[];
  readonly deliveries: DeliveryRecord[];
  readonly faults: FaultRule[];
  readonly disturbances: DisturbanceRule[];
  readonly lines: Map<App, Line>;
  readonly tickets: Map<string, { app: App; at: number }>;
  readonly refusedUpgrades: Set<App>;
  /** Consents that wait to be exchanged, by code. */
  readonly grants: Map<string, Grant>;
  readonly timers: Set<NodeJS.Timeout>;
  lastMicros: number;
  lostShares: number;
  closed: boolean;
}

/** A random id in Slack's alphabet, `prefix` first. */
export function newId(prefix: string, length = 10): string {
  const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789";
  return prefix + Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** The next message timestamp: seconds, a dot, six digits; never the same twice. */
export function newTs(workspace: Workspace): string {
  const micros = Math.max(workspace.lastMicros + 1, Date.now() * 1000);
  workspace.lastMicros = micros;
  return `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, "0")}`;
}

/** Orders two timestamps without losing digits. */
export function compareTs(left: string, right: string): number {
  const [a = "0", fractionA = "0"] = left.split(".");
  const [b = "0", fractionB = "0"] = right.split(".");
  return Number(a) - Number(b) || Number(fractionA.padEnd(6, "0")) - Number(fractionB.padEnd(6, "0"));
}

/** Runs `work` after `ms` unless the workspace was closed first. */
export function later(workspace: Workspace, ms: number, work: () => void): NodeJS.Timeout {
  const timer = setTimeout(() => {
    workspace.timers.delete(timer);
    if (!workspace.closed) work();
  }, ms);
  workspace.timers.add(timer);
  return timer;
}

/** The message with this timestamp, also when it was deleted. */
export function findMessage(channel: Channel, ts: string): StoredMessage | undefined {
  return channel.messages.find((message) => message.body.ts === ts);
}
