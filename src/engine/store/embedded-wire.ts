/**
 * Lets many PostgreSQL clients share the one session of an embedded database. It cuts each client's bytes into protocol messages and runs
 * them in whole turns: everything up to a Sync (or a simple query), and everything up to the end of a transaction, without another
 * client in between. Without whole turns one client's Bind would meet another's Parse, and a statement would run with foreign values.
 * Because the session is shared, SET, LISTEN, temporary tables, named statements and advisory locks are shared too: use none of them.
 */
import type { Socket } from "node:net";
import { setImmediate as nextTick } from "node:timers/promises";
import { cancelRequest, errorResponse, MessageReader, simpleQuery, syncMessage } from "./embedded-messages.ts";

/** The single session. `run` executes whole protocol messages and hands every answer to `answer`; it rejects only when the database is broken. */
export interface DatabaseSession {
  run(messages: Uint8Array, answer: (bytes: Uint8Array) => void): Promise<void>;
  inTransaction(): boolean;
}

/** Limits and what to do when the session breaks. */
export interface WireOptions {
  /** A client that keeps a transaction open and silent for this long, while others wait, loses it. */
  idleTransactionMs: number;
  /** The database itself failed; nothing can be served any more. */
  onBroken(error: unknown): void;
  onNotice(text: string): void;
}

interface Turn {
  client: Client;
  messages: Uint8Array;
  /** Ends with a Sync or a simple query: afterwards only an open transaction keeps the session with this client. */
  complete: boolean;
}

interface Client {
  socket: Socket;
  reader: MessageReader;
  pending: Uint8Array[];
  gone: boolean;
}

/** Serves the session to the clients of a socket server until `stop`. */
export class WireServer {
  readonly #session: DatabaseSession;
  readonly #options: WireOptions;
  readonly #clients = new Set<Client>();
  #turns: Turn[] = [];
  #owner: Client | undefined;
  #ownerTimer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(session: DatabaseSession, options: WireOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Takes a connection, new or made while the database was still starting. */
  accept(socket: Socket): void {
    if (this.#stopped) {
      socket.destroy();
      return;
    }
    const client: Client = { socket, reader: new MessageReader(), pending: [], gone: false };
    this.#clients.add(client);
    socket.on("data", (bytes) => this.#receive(client, bytes));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#leave(client));
  }

  /** Number of connected clients. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Finishes the turn that runs, rolls back an open transaction and drops every client. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#turns = [];
    await this.#running;
    for (const client of this.#clients) client.socket.destroy();
    if (this.#owner !== undefined) await this.#abandonOwner();
  }

  #receive(client: Client, bytes: Buffer): void {
    try {
      client.reader.push(bytes);
      for (let message = client.reader.next(); message !== undefined; message = client.reader.next()) {
        this.#take(client, message.kind, message.bytes);
      }
    } catch (error) {
      this.#options.onNotice(
        `A database client was dropped: ${error instanceof Error ? error.message : String(error)}`,
      );
      client.socket.destroy();
    }
    this.#pump();
  }

  #take(client: Client, kind: string, bytes: Uint8Array): void {
    if (kind === "encryption") client.socket.write("N");
    else if (kind === cancelRequest || kind === "X") client.socket.end();
    else if (kind === "startup") this.#turns.push({ client, messages: bytes, complete: true });
    else {
      client.pending.push(bytes);
      const complete = kind === "S" || kind === "Q";
      if (!complete && kind !== "H") return;
      this.#turns.push({ client, messages: Buffer.concat(client.pending), complete });
      client.pending = [];
    }
  }

  #pump(): void {
    if (this.#running !== undefined || this.#stopped) return;
    this.#running = this.#runTurns()
      .catch((error: unknown) => this.#options.onBroken(error))
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #runTurns(): Promise<void> {
    for (;;) {
      if (this.#owner?.gone) await this.#abandonOwner();
      const turn = this.#nextTurn();
      if (turn === undefined) return;
      const answers: Uint8Array[] = [];
      await this.#session.run(turn.messages, (bytes) => answers.push(bytes.slice()));
      if (!turn.client.gone) turn.client.socket.write(Buffer.concat(answers));
      this.#setOwner(!turn.complete || this.#session.inTransaction() ? turn.client : undefined);
      await nextTick();
    }
  }

  #nextTurn(): Turn | undefined {
    if (this.#stopped) return undefined;
    if (this.#owner === undefined) return this.#turns.shift();
    const index = this.#turns.findIndex((turn) => turn.client === this.#owner);
    return index === -1 ? undefined : this.#turns.splice(index, 1)[0];
  }

  #setOwner(owner: Client | undefined): void {
    clearTimeout(this.#ownerTimer);
    this.#owner = owner;
    if (owner === undefined) return;
    this.#ownerTimer = setTimeout(() => this.#evict(owner), this.#options.idleTransactionMs);
  }

  /** A silent transaction is only taken away when somebody waits for it. */
  #evict(owner: Client): void {
    if (this.#turns.length === 0) {
      this.#setOwner(owner);
      return;
    }
    this.#options.onNotice("A database client kept a transaction open without using it; it was rolled back.");
    owner.socket.end(errorResponse("25P03", "terminating connection due to idle-in-transaction timeout"));
    this.#leave(owner);
  }

  #leave(client: Client): void {
    client.gone = true;
    this.#clients.delete(client);
    this.#turns = this.#turns.filter((turn) => turn.client !== client);
    this.#pump();
  }

  /** Brings the session back to idle after its owner has gone in mid-transaction or in mid-pipeline. */
  async #abandonOwner(): Promise<void> {
    await this.#session.run(syncMessage, () => undefined);
    if (this.#session.inTransaction()) await this.#session.run(simpleQuery("ROLLBACK"), () => undefined);
    this.#setOwner(undefined);
  }
}
