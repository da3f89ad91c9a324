/**
 * One Socket Mode connection, from opening to closing, on Slack's own client with its reconnecting switched off: what comes in is read here,
 * because that client throws on payloads without an event and goes deaf while it renews itself.
 * Invariant: `openSocket` resolves with a greeted connection or rejects; afterwards `onEnd` says once that it should be replaced (announced by
 * Slack while it still works, or already closed). Replacing and pacing are left to the supervisor.
 */

import { SocketModeReceiver } from "@slack/bolt";
import type { Clock, Log } from "../../engine/index.ts";
import { type Fields, parseFields, toFields, toText } from "../shared/fields.ts";
import { clientOptions, quietLogger } from "./clients.ts";

/** A payload from Slack: an event, an interaction or a command. */
export interface SocketPayload {
  readonly envelopeId: string;
  readonly type: string;
  readonly body: Fields;
  readonly retryNum: number;
}

/** One connection. */
export interface Socket {
  /** True while payloads can come in and be acknowledged. */
  isOpen(): boolean;
  /** Acknowledges a payload; false when the connection is gone (Slack then delivers events again). */
  acknowledge(envelopeId: string, response?: unknown): boolean;
  /** Closes; resolves within about a second. Harmless when closed already. */
  close(): Promise<void>;
}

/** What a connection needs, and whom it tells. */
export interface SocketOptions {
  readonly apiUrl: string;
  readonly appToken: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Longest wait for Slack's greeting, ms. */
  readonly openTimeoutMs: number;
  readonly onPayload: (payload: SocketPayload, socket: Socket) => void;
  /** `reason` is Slack's word, or "closed". */
  readonly onEnd: (socket: Socket, reason: string) => void;
}

const OPEN = 1;
const CLOSE_WAIT_MS = 700;

type Client = SocketModeReceiver["client"];

/** Opens a connection. Rejects with the Web API client's error, or a plain one when the greeting does not come. */
export async function openSocket(options: SocketOptions): Promise<Socket> {
  const client = newClient(options);
  const socket = new SlackSocket(client, options);
  const started = client.start();
  // Starting may still succeed after we gave up on it: that late connection must not stay.
  const late = started.then(
    () => (socket.isGivenUp() ? socket.close() : undefined),
    () => undefined,
  );
  const greeted = await Promise.race([
    started.then(() => true),
    options.clock.delay(options.openTimeoutMs).then(() => false),
  ]).catch((error: unknown) => {
    void socket.close();
    throw error ?? new Error("The connection was closed before Slack's greeting.");
  });
  if (greeted) return socket;
  void socket.close();
  void late;
  throw new Error("Slack did not greet on the new connection in time.");
}

function newClient(options: SocketOptions): Client {
  const receiver = new SocketModeReceiver({
    appToken: options.appToken,
    autoReconnectEnabled: false,
    logger: quietLogger(options.log),
    installerOptions: { clientOptions: clientOptions(options.apiUrl, options.log) },
  });
  const { client } = receiver;
  client.removeAllListeners("slack_event");
  client.removeAllListeners("ws_message");
  return client;
}

class SlackSocket implements Socket {
  readonly #client: Client;
  readonly #options: SocketOptions;
  #ended = false;
  #closing: Promise<void> | undefined;

  constructor(client: Client, options: SocketOptions) {
    this.#client = client;
    this.#options = options;
    client.on("ws_message", (data: unknown, isBinary: unknown) => this.#read(data, isBinary === true));
    client.on("disconnected", () => this.#end("closed"));
  }

  isOpen(): boolean {
    return this.#closing === undefined && this.#client.websocket?.readyState === OPEN;
  }

  isGivenUp(): boolean {
    return this.#closing !== undefined;
  }

  acknowledge(envelopeId: string, response?: unknown): boolean {
    const { websocket } = this.#client;
    if (websocket?.readyState !== OPEN) return false;
    let sent = true;
    websocket.send(JSON.stringify({ envelope_id: envelopeId, payload: response ?? {} }), (error) => {
      if (error) sent = false;
    });
    return sent;
  }

  close(): Promise<void> {
    // A connection that cannot even be closed properly is dropped by Slack; nobody can do more about it.
    this.#closing ??= this.#close().catch(() => this.#options.log.debug({}, "a slack connection would not close"));
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#ended = true;
    if (this.#client.websocket === undefined) return;
    const done = this.#client.disconnect().catch(() => undefined);
    await Promise.race([done, this.#options.clock.delay(CLOSE_WAIT_MS)]);
    // Asked a second time, the library drops the connection at once instead of waiting for the other side.
    if (this.#client.websocket?.readyState !== undefined) this.#client.websocket.disconnect();
  }

  #end(reason: string): void {
    if (this.#ended && reason !== "closed") return;
    this.#ended = true;
    this.#options.onEnd(this, reason);
  }

  #read(data: unknown, isBinary: boolean): void {
    if (isBinary || typeof data !== "string") return;
    const frame = parseFields(data);
    const type = toText(frame.type);
    if (type === "hello") {
      this.#client.emit("connected", {});
      return;
    }
    if (type === "disconnect") {
      this.#end(toText(frame.reason) ?? "disconnect");
      return;
    }
    const envelopeId = toText(frame.envelope_id);
    if (type === undefined || envelopeId === undefined) return;
    const retryNum = typeof frame.retry_attempt === "number" ? frame.retry_attempt : 0;
    this.#options.onPayload({ envelopeId, type, body: toFields(frame.payload), retryNum }, this);
  }
}
