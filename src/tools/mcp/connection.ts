/**
 * The life of one connector's connection (SPEC P2, X2): started in the background, started again with growing pauses when it ends, its tools known
 * from the last time until it is there. Invariant: nobody waits for a server beyond a call's own limit, and a call that hangs costs only itself.
 */

import type { ConnectorHealth, ToolContext } from "../../engine/index.ts";
import { type CallEnd, type Flight, runCall } from "./connection-call.ts";
import { describeFailure } from "./connection-failure.ts";
import type { ConnectionAccount, ConnectionParts } from "./connection-parts.ts";
import type { ConnectorDefinition } from "./definitions.ts";
import { type ListedTool, type OpenedClient, SignInNeededError } from "./opened-client.ts";
import { pauseAfter, withLimit } from "./pace.ts";
import { createToolCache, fingerprintOf, type KnownTools } from "./tool-cache.ts";

type State = ConnectorHealth["state"];

const OPEN_MS = 30_000;
/** A connection that lasted this long was a good one: the next pause is short again. */
const SOUND_MS = 60_000;
const PING_MS = 10_000;
const LIST_PAUSE_MS = 1000;
const LONGEST_LIST_PAUSE_MS = 60_000;
const SLOWEST = 20;
/** How long a call waits for a server that is just starting. */
const START_WAIT_MS = 20_000;

/** One connection; make it, `start` it, `stop` it. */
export class Connection {
  readonly definition: ConnectorDefinition;
  readonly personId: string | undefined;
  readonly #parts: ConnectionParts;
  readonly #account: ConnectionAccount;
  readonly #cache: ReturnType<typeof createToolCache>;
  readonly #flights = new Set<Flight>();
  readonly #ended = new AbortController();
  #state: State = "off";
  #trouble = "";
  #incident = "";
  #client: OpenedClient | undefined;
  #known: KnownTools = { tools: [], omitted: 0 };
  #wake = new AbortController();
  #settled: (() => void)[] = [];
  #running: Promise<void> | undefined;
  #isShut = false;
  #isLost = false;
  #isListing = false;
  #isListDue = false;

  constructor(definition: ConnectorDefinition, parts: ConnectionParts, account: ConnectionAccount = {}) {
    this.definition = definition;
    this.personId = account.personId;
    this.#parts = parts;
    this.#account = account;
    this.#cache = createToolCache(parts.kv, this.key, fingerprintOf(definition));
  }

  /** Unique among all connections, also of several people to one server. */
  get key(): string {
    return this.#account.personId ? `${this.definition.id}@${this.#account.personId}` : this.definition.id;
  }

  get state(): State {
    return this.#state;
  }

  /** What is wrong, for people and models; "" while all is well. Holds nothing the server wrote. */
  get trouble(): string {
    return this.#trouble;
  }

  /** Names this stretch of trouble, also over restarts. */
  get incident(): string {
    return this.#incident;
  }

  /** Tools as they are now, or as they were when it was last there. */
  get known(): KnownTools {
    return this.#known;
  }

  /** Its tools may be offered. */
  get isUsable(): boolean {
    return this.#state === "connected" || (this.#state === "starting" && this.#known.tools.length > 0);
  }

  /** Begins to live; returns at once. */
  start(): void {
    this.#running ??= this.#live();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    this.#wake.abort();
    await this.#client?.close().catch(() => undefined); // It goes away in any case.
    await this.#running;
    this.#set("off", "");
  }

  /** Looks again now instead of after the pause. */
  retry(): void {
    this.#wake.abort();
  }

  /** Resolves when it is connected or has failed once, at the latest after the time. */
  async settled(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#state !== "starting") return;
    const over = new AbortController();
    const known = new Promise<void>((resolve) => this.#settled.push(resolve));
    await Promise.race([known, this.#parts.clock.delay(ms, AbortSignal.any([signal, over.signal]))]);
    over.abort();
  }

  /** Runs one call on behalf of a tool's context. Never throws for the server's faults. */
  async call(tool: string, args: Record<string, unknown>, context: ToolContext): Promise<CallEnd> {
    const once = () =>
      this.#onClient(context, (client, flight, signal, onProgress) =>
        client.callTool(tool, args, { signal, onProgress: (progress) => onProgress(flight, progress) }),
      );
    const first = await once();
    // Nothing was done: its session had ended there, and a new one may be had at once.
    const end = first.end === "absent" && first.isLost ? await once() : first;
    if (end.end !== "refused" || !end.pages) return end;
    for (const page of end.pages) {
      const flight: Flight = { context, connector: this.definition.id, asking: 0 };
      const reply = await this.#parts.elicit([flight], page, context.signal);
      if (reply.action !== "accept") return { end: "refused", text: "the person did not open the page it needs." };
    }
    return once();
  }

  /** Reads one resource. */
  async read(uri: string, context: ToolContext): Promise<CallEnd> {
    return this.#onClient(context, (client, _flight, signal) => client.readResource(uri, signal));
  }

  async #onClient(context: ToolContext, work: Parameters<typeof runCall>[1]): Promise<CallEnd> {
    await this.settled(START_WAIT_MS, context.signal);
    const client = this.#client;
    if (!client) return { end: "absent", text: this.#trouble || "it is not connected." };
    const flight: Flight = { context, connector: this.definition.id, asking: 0 };
    this.#flights.add(flight);
    const parts = { client, flight, clock: this.#parts.clock, timeoutMs: this.definition.timeoutMs };
    try {
      const end = await runCall(parts, work);
      if (end.end === "late") void this.#checkAlive(client);
      if (end.end !== "answered" && end.isLost && this.#client === client) this.#renew(client);
      if (end.end === "shut") {
        this.#isShut = true;
        void client.close().catch(() => undefined); // It is of no use to anybody until somebody signs in.
      }
      return end;
    } finally {
      this.#flights.delete(flight);
    }
  }

  /** The other side knows this session no more: a new one is begun now, without a pause. */
  #renew(client: OpenedClient): void {
    this.#isLost = true;
    this.#client = undefined;
    this.#set("starting", "");
    void client.close().catch(() => undefined); // It is gone already.
  }

  /** After a call that did not end: a server that answers nothing at all is started anew, the others' calls are left alone. */
  async #checkAlive(client: OpenedClient): Promise<void> {
    try {
      await withLimit(this.#parts.clock, PING_MS, (signal) => client.ping(signal));
    } catch {
      this.#parts.log.warn({ connector: this.key }, "a connector answers nothing any more; it is started anew");
      await client.close().catch(() => undefined); // What matters is that a new one is begun.
    }
  }

  async #live(): Promise<void> {
    this.#set("starting", "");
    this.#known = await this.#cache.read().catch(() => this.#known); // Without the memory it is known a little later.
    for (let failures = 0; !this.#ended.signal.aborted; ) {
      const began = this.#parts.clock.now();
      await this.#once();
      failures = this.#parts.clock.now() - began > SOUND_MS ? 1 : failures + 1;
      if (this.#ended.signal.aborted) return;
      if (this.#state === "starting") continue;
      this.#wake = new AbortController();
      const tries = this.#state === "needs-sign-in" ? SLOWEST : failures; // Asking often brings no sign-in.
      await this.#parts.clock.delay(pauseAfter(tries, this.#parts.random()), this.#wake.signal);
    }
  }

  /** One attempt and, when it works, the connection's whole life. */
  async #once(): Promise<void> {
    try {
      this.#isShut = false;
      this.#isLost = false;
      const client = await this.#opened();
      if (!client) return;
      this.#client = client;
      await this.#list(client);
      await this.#cache.endIncident();
      this.#set("connected", "");
      this.#parts.log.info({ connector: this.key, tools: this.#known.tools.length }, "connector connected");
      if (this.#isListDue) void this.#listAgain(); // Said while the first list was being read.
      await client.closed;
      for (const flight of this.#flights) flight.onGone?.();
      if (this.#isLost) return;
      if (this.#isShut) throw new SignInNeededError();
      if (!this.#ended.signal.aborted) await this.#failed("reconnecting", "it ended.");
    } catch (error) {
      await this.#client?.close().catch(() => undefined); // Half open; a new one is begun.
      if (error instanceof SignInNeededError) this.#set("needs-sign-in", "a person has to sign in first.");
      else await this.#failed("reconnecting", describeFailure(error, this.definition));
    } finally {
      this.#client = undefined;
    }
  }

  async #opened(): Promise<OpenedClient | undefined> {
    const { definition } = this;
    const filled = await this.#parts.valuesFor(definition);
    if (!filled.ok) {
      await this.#failed("needs-secret", `the secret ${filled.missing.join(", ")} has not been given to a bot.`);
      return undefined;
    }
    return withLimit(this.#parts.clock, OPEN_MS, (signal) =>
      this.#parts.open({
        id: this.key,
        address: definition.address,
        values: filled.values,
        roots: definition.roots,
        http: this.#parts.httpFor(definition),
        ...(this.#account.auth === undefined ? {} : { auth: this.#account.auth }),
        signal: AbortSignal.any([signal, this.#ended.signal]),
        log: this.#parts.log,
        onListChanged: () => void this.#listAgain(),
        onElicitation: (params, stop) => this.#parts.elicit([...this.#flights], params, stop),
        onSampling:
          definition.samplingPerHour > 0 ? (params, stop) => this.#parts.sample(definition, params, stop) : undefined,
      }),
    );
  }

  async #list(client: OpenedClient): Promise<void> {
    const listed = await withLimit(this.#parts.clock, OPEN_MS, (signal) => client.listTools(signal));
    const about = client.instructions ? { about: client.instructions } : {};
    this.#known = { ...listed, ...about, tools: [...listed.tools].sort(byName) };
    await this.#cache.write(this.#known);
  }

  get #mayList(): boolean {
    return this.#isListDue && this.#state === "connected" && !this.#ended.signal.aborted;
  }

  /** The list has changed: offers of running cycles stay, search and the next cycle see the new one. However often it is said, one look is under way. */
  async #listAgain(): Promise<void> {
    this.#isListDue = true;
    if (this.#isListing) return;
    this.#isListing = true;
    // The first change is looked at now, further ones after a pause that grows while they keep coming.
    for (let pause = LIST_PAUSE_MS; this.#mayList; pause = Math.min(2 * pause, LONGEST_LIST_PAUSE_MS)) {
      this.#isListDue = false;
      if (this.#client)
        await this.#list(this.#client).catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          this.#parts.log.warn({ connector: this.key, reason }, "the changed list of tools could not be read");
        });
      await this.#parts.clock.delay(pause, this.#ended.signal);
    }
    this.#isListing = false;
  }

  async #failed(state: State, trouble: string): Promise<void> {
    // Without a database there are bigger troubles to tell people of; this one keeps the name it had.
    this.#incident = await this.#cache.beginIncident().catch(() => this.#incident);
    this.#set(state, trouble);
    this.#parts.log.warn({ connector: this.key, reason: trouble }, "connector not connected");
  }

  #set(state: State, trouble: string): void {
    this.#state = state;
    this.#trouble = trouble;
    if (state === "starting") return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }
}

function byName(a: ListedTool, b: ListedTool): number {
  return a.name < b.name ? -1 : 1;
}
