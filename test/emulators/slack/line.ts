/**
 * One app's way to be reached: its open Socket Mode connections and the events it has not acknowledged yet.
 * Only shapes; `deliveries.ts` moves events, `socket-mode.ts` owns the connections.
 */
import type { WebSocket } from "ws";
import type { Fields } from "../loopback.ts";
import type { App } from "./model.ts";

/** One WebSocket of an app. A silent one stays open, answers pings and gets nothing. */
export interface Link {
  readonly socket: WebSocket;
  /** Interactive envelopes waiting for their answer; null = the connection ended first. */
  readonly waiting: Map<string, (payload: Fields | null) => void>;
  silent: boolean;
}

/** What a test can read about one event sent to one app. */
export interface DeliveryRecord {
  readonly app: App;
  readonly eventType: string;
  readonly body: Fields;
  readonly createdAt: number;
  /** When it was put on the wire, once per attempt. */
  readonly sentAt: number[];
  acknowledgedAt: number | null;
  /** All retries used up: the app never heard of it. */
  lost: boolean;
}

/** An event that is not acknowledged. */
export interface Pending {
  readonly record: DeliveryRecord;
  envelopeId: string;
  attempt: number;
  reason: string;
  link: Link | null;
  timer: NodeJS.Timeout | null;
  ignoreAcks: number;
}

/** Everything about reaching one app. */
export interface Line {
  readonly links: Link[];
  readonly backlog: Pending[];
  /** How many sockets were ever opened. */
  opened: number;
  turn: number;
}
