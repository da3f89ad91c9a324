/**
 * Joins the page's parts: the model, the live connection, the outbox and the requests. Components read `model` and call the methods.
 * Invariant: the model changes only in `#set`, which tells the components; nothing here draws.
 */

import type { WireChannel, WirePage, WirePerson, WirePost, WireReception, WireState } from "../wire.ts";
import { ApiError, post, read } from "./api.ts";
import {
  type Model,
  type Outgoing,
  type SentFile,
  START,
  timelineOf,
  withAside,
  withCurrent,
  withOutgoing,
  withoutOutgoing,
  withPage,
  withRead,
  withRecord,
  withSent,
  withState,
} from "./model.ts";
import { loadOutgoing, Outbox, saveOutgoing } from "./outbox.ts";
import { randomId } from "./random-id.ts";
import { LiveStream } from "./stream.ts";

/** The page's one controller. */
export class Playground {
  #model: Model = START;
  readonly #listeners = new Set<() => void>();
  readonly #outbox = new Outbox({
    list: () => this.#model.outgoing,
    change: (clientId, change) => this.#set(withOutgoing(this.#model, clientId, change)),
    send: (item) => this.#deliver(item),
  });
  readonly #stream = new LiveStream({
    onRecord: (record) => {
      this.#set(withRecord(this.#model, record));
      if (record.type === "workspace") void this.#refresh();
      else this.#readIfSeen(record.channelId);
    },
    onWorking: (working) => this.#set({ ...this.#model, working }),
    onState: (connection) => this.#onConnection(connection),
    onRefused: () => void this.#refresh(),
  });
  readonly #loading = new Set<string>();
  /** Channels in which it was explained how a bot is addressed. */
  readonly #explained = new Set<string>();

  constructor() {
    addEventListener("popstate", () => this.#showAddressed());
    addEventListener("focus", () => this.#model.current && this.#readIfSeen(this.#model.current));
  }

  /** What there is to draw. */
  get model(): Model {
    return this.#model;
  }

  /** Calls back after each change; returns how to stop. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Loads the state; with a name chosen it goes live. */
  async open(): Promise<void> {
    try {
      const state = await read<WireState>("/api/state");
      this.#set(withState(this.#model, state));
      if (state.me) this.#goLive(state, state.me);
    } catch (error) {
      if (this.#model.phase === "loading") this.#set({ ...this.#model, phase: "failed", failure: words(error) });
      setTimeout(() => void this.open(), 3000);
    }
  }

  /** Chooses or changes the display name. Throws ApiError with the reason when it is refused. */
  async chooseName(name: string): Promise<void> {
    const first = this.#model.me === null;
    const me = await post<WirePerson>("/api/me", { name });
    this.#set({ ...this.#model, me });
    if (first) await this.open();
  }

  /** Shows a channel. */
  show(channelId: string): void {
    if (this.#model.current !== channelId) this.#set(withCurrent(this.#model, channelId));
    if (location.hash.slice(1) !== channelId) history.pushState(null, "", `#${channelId}`);
    if (!timelineOf(this.#model, channelId).loaded) void this.#loadPage(channelId);
    this.#readIfSeen(channelId);
  }

  /** Loads the page of posts before those shown. */
  async loadOlder(channelId: string): Promise<void> {
    const timeline = timelineOf(this.#model, channelId);
    if (timeline.loaded && timeline.more) await this.#loadPage(channelId, timeline.first);
  }

  /** Puts a message on its way; it appears at once. */
  say(channelId: string, text: string, files: readonly SentFile[]): void {
    const clientId = randomId();
    const at = new Date().toISOString();
    const item: Outgoing = { clientId, channelId, text, files, at, state: "sending" };
    this.#set({ ...this.#model, outgoing: [...this.#model.outgoing, item] });
    void this.#outbox.flush();
  }

  /** Tries a refused message once more. */
  resend(clientId: string): void {
    this.#set(withOutgoing(this.#model, clientId, { state: "waiting" }));
    void this.#outbox.flush();
  }

  /** Gives a refused message up. */
  discard(clientId: string): void {
    this.#set(withoutOutgoing(this.#model, clientId));
  }

  /** Answers a card. The reception's reason, if any, is for this person. */
  answer(card: WirePost, choices: readonly string[], text?: string): Promise<WireReception> {
    const { channelId, seq } = card;
    return post("/api/answers", { channelId, seq, clientId: randomId(), choices, ...(text ? { text } : {}) });
  }

  /** Hands over a secret. */
  giveSecret(card: WirePost, value: string): Promise<WireReception> {
    return post("/api/secrets", { channelId: card.channelId, seq: card.seq, value });
  }

  /** Declines a card. */
  decline(card: WirePost): Promise<WireReception> {
    return post("/api/dismissals", { channelId: card.channelId, seq: card.seq });
  }

  /** Stops the bots at work in a channel. */
  async stop(channelId: string): Promise<void> {
    try {
      const reception = await post<WireReception>(`${pathOf(channelId)}/stop`, {});
      if (reception.status === "refused") this.aside(channelId, reception.reason ?? "This could not be stopped.");
    } catch (error) {
      this.aside(channelId, words(error));
    }
  }

  /** Makes a channel and opens it. Throws ApiError. */
  async createChannel(name: string, bots: readonly string[]): Promise<void> {
    const channel = await post<WireChannel>("/api/channels", { name, bots });
    await this.#refresh();
    this.show(channel.id);
  }

  /** Changes which bots are in a channel. Throws ApiError. */
  async setBots(channelId: string, bots: readonly string[]): Promise<void> {
    await post<WireChannel>(`${pathOf(channelId)}/bots`, { bots });
    await this.#refresh();
  }

  /** Adds a private line to a channel. */
  aside(channelId: string, text: string): void {
    this.#set(withAside(this.#model, channelId, randomId(), text));
  }

  #goLive(state: WireState, me: WirePerson): void {
    const known = new Set(state.channels.map((channel) => channel.id));
    const waiting = loadOutgoing(me.id).filter((item) => known.has(item.channelId) && item.state !== "sent");
    this.#set({ ...this.#model, outgoing: waiting });
    this.#stream.start(state.cursor);
    this.#showAddressed();
    void this.#outbox.flush();
  }

  #showAddressed(): void {
    const asked = decodeURIComponent(location.hash.slice(1));
    const channel = this.#model.channels.find((one) => one.id === asked) ?? this.#model.channels[0];
    if (channel) this.show(channel.id);
  }

  async #deliver(item: Outgoing): Promise<void> {
    const files = item.files.map((file) => file.uploadId);
    const { clientId, channelId, text } = item;
    const answer = await post<{ post: WirePost; reception: WireReception }>(`${pathOf(channelId)}/messages`, {
      clientId,
      text,
      files,
    });
    this.#set(withSent(this.#model, clientId, answer.post));
    const { status, reason } = answer.reception;
    if (status === "refused") this.aside(channelId, reason ?? "This message was not accepted.");
    if (status === "ignored") this.#explainSilence(channelId, text);
  }

  /** Why nobody answers: the bot that is named is not here, or (said once per channel) nobody was named. */
  #explainSilence(channelId: string, text: string): void {
    const channel = this.#model.channels.find((one) => one.id === channelId);
    const absent = this.#model.bots.find(
      (one) => !channel?.bots.includes(one.id) && text.toLowerCase().includes(`@${one.name.toLowerCase()}`),
    );
    if (absent && channel?.kind === "channel") {
      this.aside(channelId, `${absent.name} is not in this channel. Add ${absent.name} in the channel's settings.`);
      return;
    }
    const bot = this.#model.bots.find((one) => one.id === channel?.bots[0]);
    if (!bot || channel?.kind !== "channel" || this.#explained.has(channelId)) return;
    this.#explained.add(channelId);
    const words =
      channel.bots.length > 1
        ? `Here the bots answer when one of them is mentioned, such as @${bot.name}, or @everyone.`
        : `In a channel ${bot.name} answers when you write @${bot.name}.`;
    this.aside(channelId, words);
  }

  async #refresh(): Promise<void> {
    try {
      // First the answer, then the model: what happened while waiting must not be undone.
      const state = await read<WireState>("/api/state");
      this.#set(withState(this.#model, state));
      if (!state.me) this.#stream.stop();
    } catch {
      // The next record or reconnect brings the list again.
    }
  }

  async #loadPage(channelId: string, before?: number): Promise<void> {
    if (this.#loading.has(channelId)) return;
    this.#loading.add(channelId);
    try {
      const page = await read<WirePage>(`${pathOf(channelId)}/posts${before ? `?before=${before}` : ""}`);
      this.#set(withPage(this.#model, channelId, page));
      this.#readIfSeen(channelId);
    } catch (error) {
      if (!before) setTimeout(() => void this.#loadPage(channelId), 2000);
      else this.aside(channelId, words(error));
    } finally {
      this.#loading.delete(channelId);
    }
  }

  /** What stands on a focused page has been read. */
  #readIfSeen(channelId: string): void {
    const channel = this.#model.channels.find((one) => one.id === channelId);
    if (!channel || channelId !== this.#model.current || document.hidden || !document.hasFocus()) return;
    if (channel.read >= channel.head && channel.unread === 0) return;
    this.#set(withRead(this.#model, channelId));
    void post(`${pathOf(channelId)}/read`, { seq: channel.head }).catch(() => undefined); // Only a marker; the next one repairs it.
  }

  #onConnection(connection: Model["connection"]): void {
    if (this.#model.connection === connection) return;
    const back = connection === "live" && this.#model.connection === "offline";
    this.#set({ ...this.#model, connection });
    if (back) void this.#refresh();
    if (connection === "live") void this.#outbox.flush();
  }

  #set(model: Model): void {
    const before = this.#model;
    this.#model = model;
    if (model.me && before.outgoing !== model.outgoing) saveOutgoing(model.me.id, model.outgoing);
    for (const listener of this.#listeners) listener();
  }
}

function pathOf(channelId: string): string {
  return `/api/channels/${encodeURIComponent(channelId)}`;
}

function words(error: unknown): string {
  return error instanceof ApiError ? error.message : "Something went wrong. Try again.";
}
