/**
 * The engine's front door over a real database: events go in as adapters make them, and tests look at receptions, mail and what the host said.
 * Nothing runs turns here; `work` and `ask` put a session into the state a turn would leave.
 */
import type { Adapter } from "../../../src/engine/adapter.ts";
import type { Installation } from "../../../src/engine/bot.ts";
import { createSystemClock } from "../../../src/engine/clock.ts";
import type { ConversationRef } from "../../../src/engine/conversation.ts";
import type { AnswerEvent, InboundEvent, MessageEvent, Receive, Reception } from "../../../src/engine/inbound-event.ts";
import type { PersonRef } from "../../../src/engine/person.ts";
import { createHostCards } from "../../../src/engine/routing/host-cards.ts";
import { createInstallations } from "../../../src/engine/routing/installations.ts";
import { createMembership } from "../../../src/engine/routing/membership.ts";
import { createReceive } from "../../../src/engine/routing/router.ts";
import { createSecretIntake } from "../../../src/engine/routing/secret-intake.ts";
import { SecretValue } from "../../../src/engine/secret-value.ts";
import type { EngineSettings } from "../../../src/engine/settings.ts";
import type { VaultCipher } from "../../../src/engine/state/vault.ts";
import { silentLog } from "../store/silent-log.ts";
import { claimTimes, noProgress, unique } from "../store/store-place.ts";
import type { StoreWorld } from "../store/store-world.ts";
import { written } from "./addressing-parts.ts";
import { type AskedFor, cardDelivery, type RunningTurn } from "./room-cards.ts";

/** How a person writes; see `written` for mentions. */
export interface SayOptions {
  readonly id?: string;
  /** The bot whose connection brings this copy; default Ada. */
  readonly to?: "ada" | "bo";
  readonly thread?: string;
  readonly more?: Partial<MessageEvent>;
}

/** A workspace of its own with Ada and Bo, one channel, and direct messages with Ada. */
export class Room {
  readonly workspaceId: string;
  readonly channel: ConversationRef;
  readonly direct: ConversationRef;
  readonly rung: string[] = [];
  readonly signals: string[] = [];
  settles = 0;
  readonly world: StoreWorld;
  readonly settings: EngineSettings;
  readonly bots: Readonly<Record<"ada" | "bo", Installation>>;
  readonly receive: Receive;

  constructor(
    world: StoreWorld,
    settings: EngineSettings,
    bots: Room["bots"],
    workspaceId: string,
    cipher: VaultCipher,
  ) {
    this.world = world;
    this.settings = settings;
    this.bots = bots;
    this.workspaceId = workspaceId;
    this.channel = { platform: "test", workspaceId, kind: "channel", channelId: "C1" };
    this.direct = { ...this.channel, kind: "direct", channelId: "D1" };
    const installations = createInstallations();
    installations.add(bots.ada, "Ada");
    installations.add(bots.bo, "Bo Diddley");
    const { store } = world;
    // A platform on which bots in one channel are a Group only when somebody says so.
    const adapter = {
      platform: "test",
      groupsOnRequest: true,
      render: (delivery: { kind: string }) => [delivery.kind],
      members: async () => [],
    } as unknown as Adapter;
    const adapters = () => adapter;
    const clock = createSystemClock();
    const { maxMembers } = settings.groups;
    const hostCards = createHostCards({ store, installations, adapters, nudge: () => undefined, maxMembers });
    const queue = {
      ring: (id: string) => void this.rung.push(id),
      signal: (id: string, kind: string) => void this.signals.push(`${kind} ${id}`),
    } as never;
    const membership = createMembership({
      store,
      queue,
      adapters,
      installations,
      hostCards,
      settings,
      clock,
      log: silentLog,
    });
    this.receive = createReceive({
      store,
      installations,
      adapters: () => undefined,
      settings,
      secrets: createSecretIntake({ store, cipher, settings }),
      hostCards,
      membership,
      clock,
      queue,
      log: silentLog,
      metrics: { count: () => undefined, observe: () => undefined },
      onSettleOwed: () => {
        this.settles += 1;
      },
      onFilesDue: () => undefined,
    });
  }

  person(name: string, kind: PersonRef["kind"] = "member"): PersonRef {
    const platformId = `U_${name.toUpperCase()}`;
    return { id: `test:${this.workspaceId}:${platformId}`, platformId, name, kind };
  }

  thread(threadId: string): ConversationRef {
    return { ...this.channel, kind: "thread", threadId };
  }

  private base(ref: ConversationRef, id: string, to: "ada" | "bo" = "ada") {
    return {
      dedupeKey: `test:${this.workspaceId}:${ref.channelId}:${id}`,
      installationId: this.bots[to].id,
      conversation: ref,
      at: new Date(),
    };
  }

  message(
    name: string,
    text: string,
    options: SayOptions = {},
    ref = options.thread ? this.thread(options.thread) : this.channel,
  ): MessageEvent {
    const { id = unique("m"), to, more } = options;
    return {
      ...this.base(ref, id, to),
      type: "message",
      from: this.person(name),
      platformId: id,
      ...written(text),
      quoted: [],
      everyone: false,
      namesBot: false,
      files: [],
      ...(ref.kind === "channel" ? { opensThread: id } : {}),
      ...more,
    };
  }

  says(name: string, text: string, options: SayOptions = {}): Promise<Reception> {
    return this.receive(this.message(name, text, options));
  }

  writes(name: string, text: string, options: SayOptions = {}): Promise<Reception> {
    return this.receive(this.message(name, text, options, this.direct));
  }

  /** Any other event, in the channel unless it says otherwise. */
  event<Type extends InboundEvent["type"]>(
    type: Type,
    fields: Omit<
      Extract<InboundEvent, { type: Type }>,
      "type" | "dedupeKey" | "installationId" | "conversation" | "at"
    > &
      Partial<InboundEvent>,
    ref = this.channel,
  ): Promise<Reception> {
    return this.receive({ ...this.base(ref, unique("e")), type, ...fields } as unknown as InboundEvent);
  }

  clicks(
    name: string,
    cardId: string,
    choices: readonly string[],
    ref: ConversationRef,
    more: Partial<AnswerEvent> = {},
  ): Promise<Reception> {
    return this.event("answer", { from: this.person(name), cardId, choices, ...more }, ref);
  }

  gives(name: string, cardId: string, value: string, ref: ConversationRef, more: object = {}): Promise<Reception> {
    return this.event("secret", { from: this.person(name), cardId, value: new SecretValue(value), ...more }, ref);
  }

  async rows<Row extends object = Record<string, unknown>>(sql: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.world.pool.query<Row & Record<string, unknown>>(sql, [...values, `test:${this.workspaceId}:%`]))
      .rows;
  }

  /** Mail of this workspace as "bot type state", in order. */
  async mail(): Promise<string[]> {
    const rows = await this.rows<{ line: string }>(
      `SELECT split_part(m."botId", '-', 1) || ' ' || (m."body"->>'type') || ' ' || m."state" AS line FROM "Mail" m JOIN "Session" s ON s."id" = m."sessionId"
       WHERE s."conversationKey" LIKE $1 ORDER BY m."seq"`,
    );
    return rows.map((row) => row.line);
  }

  /** What the host said in this workspace. */
  async notices(): Promise<string[]> {
    const rows = await this.rows<{ text: string }>(
      `SELECT "text" FROM "Entry" WHERE "kind" = 'host-card' AND "conversationKey" LIKE $1 ORDER BY "seq"`,
    );
    return rows.map((row) => row.text);
  }

  /** Words of people that are kept, in order. */
  async kept(): Promise<string[]> {
    const rows = await this.rows<{ text: string }>(
      `SELECT "text" FROM "Entry" WHERE "authorKind" = 'person' AND "conversationKey" LIKE $1 ORDER BY "seq"`,
    );
    return rows.map((row) => row.text);
  }

  /** A running turn that has taken all due mail of the session rung last. */
  async work(name = "ann"): Promise<RunningTurn> {
    const { store } = this.world;
    const { claim } = await store.claim({ ...claimTimes, sessionId: this.rung.at(-1) ?? "", owner: unique("w") });
    if (!claim) throw new Error("expected a claim");
    const { due, conversation } = await store.viewSession(claim);
    const { platform, workspaceId, kind, channelId, threadId } = conversation;
    const ref: ConversationRef = { platform, workspaceId, kind, channelId, ...(threadId ? { threadId } : {}) };
    const person = this.person(name);
    const turnId = unique("t");
    const authority = { role: "member" as const, personIds: [person.id], names: { [person.id]: person.name } };
    const route = { conversationKey: conversation.key, ref, installationId: this.bots.ada.id };
    await store.beginTurn(claim, {
      turnId,
      route,
      authority,
      progress: noProgress,
      mailIds: due.map((mail) => mail.id),
    });
    return { claim, turnId, ref };
  }

  async finish({ claim, turnId }: RunningTurn): Promise<void> {
    await this.world.store.finishTurn(claim, {
      turnId,
      status: "done",
      outcome: "waiting",
      nodes: [],
      progress: noProgress,
    });
  }

  /** Ada's turn ends with this card, for the person it served. */
  async ask(asked: AskedFor, name = "ann"): Promise<{ cardId: string; ref: ConversationRef }> {
    const turn = await this.work(name);
    const { claim, turnId, ref } = turn;
    const { store } = this.world;
    const calls = [{ id: "c", name: "SendMessage", args: {} }];
    const node = {
      hash: unique("n"),
      parent: null,
      kind: "reply" as const,
      message: { role: "assistant" as const, text: "", calls },
    };
    await store.commitReply(claim, { turnId, step: 1, node, calls, progress: noProgress });
    const cardId = unique("crd");
    await store.commitSend(
      claim,
      { turnId, step: 1, index: 0 },
      cardDelivery(this, asked, cardId, turn, name),
      noProgress,
    );
    await this.finish(turn);
    return { cardId, ref };
  }
}
