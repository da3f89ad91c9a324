/** A bot in a conversation with people, and short ways to let things happen there. Every place is new, so tests do not disturb each other. */
import { randomUUID } from "node:crypto";
import type { Place } from "../../../src/engine/adapter.ts";
import type { Bot, Installation } from "../../../src/engine/bot.ts";
import { type ConversationRef, conversationKey } from "../../../src/engine/conversation.ts";
import type { PersonRef } from "../../../src/engine/person.ts";
import type { Claim, TurnProgress } from "../../../src/engine/session.ts";
import type { BeginTurn, NewDelivery, NewMail, Store, TakeIn, TakeInResult } from "../../../src/engine/store/store.ts";

export type Stored = Extract<TakeInResult, { status: "stored" }>;

export const noProgress: TurnProgress = {
  bubbles: 0,
  said: [],
  refusedInRow: 0,
  callsSinceSend: 0,
  workAfterSend: false,
  reacted: false,
  silentTries: 0,
  closingTried: false,
  reminded: [],
  personCount: 0,
};

export const claimTimes = { leaseMs: 15_000, waitMs: 3_000, ageingMs: 600_000 };

/** Short unique text. */
export function unique(prefix: string): string {
  return `${prefix}${randomUUID().slice(0, 8)}`;
}

/** An event as it is taken in, with everything that can be left out. */
export type Said = Partial<Omit<TakeIn, "entry" | "wake">> & {
  readonly platformId?: string;
  readonly replyTo?: string;
  readonly by?: PersonRef;
  readonly at?: Date;
  readonly mail?: Partial<NewMail> | null;
  readonly botIds?: readonly string[];
};

/** One native channel or direct message of a bot. */
export class TestPlace {
  readonly store: Store;
  readonly bot: Bot;
  readonly installation: Installation;
  readonly ref: ConversationRef;
  readonly key: string;
  readonly ann: PersonRef;
  readonly bob: PersonRef;

  constructor(store: Store, bot: Bot, installation: Installation, ref: ConversationRef) {
    const { workspaceId } = ref;
    this.store = store;
    this.bot = bot;
    this.installation = installation;
    this.ref = ref;
    this.key = conversationKey(ref);
    this.ann = { id: `test:${workspaceId}:U1`, platformId: "U1", name: "Ann", kind: "member" };
    this.bob = { id: `test:${workspaceId}:U2`, platformId: "U2", name: "Bob", kind: "member" };
  }

  /** Another conversation of the same bot. */
  beside(kind: "direct" | "channel" = "channel"): TestPlace {
    return new TestPlace(this.store, this.bot, this.installation, { ...this.ref, kind, channelId: unique("C") });
  }

  /** The same place through another store. */
  through(store: Store): TestPlace {
    return new TestPlace(store, this.bot, this.installation, this.ref);
  }

  get route(): string {
    return `${this.key}|${this.installation.id}`;
  }

  mailOf(more: Partial<NewMail> = {}): NewMail {
    return {
      kind: "person",
      body: { type: "message", role: "member" },
      authorId: this.ann.id,
      authorName: this.ann.name,
      route: this.route,
      audience: "test",
      hops: 0,
      orderAt: new Date(),
      ...more,
    };
  }

  event(text: string, said: Said = {}): TakeIn {
    const { platformId = unique("m"), replyTo, by = this.ann, at = new Date(), mail = {}, botIds, ...more } = said;
    const { installation } = this;
    return {
      dedupeKey: `${this.key}:${platformId}`,
      outcome: "stored",
      ref: this.ref,
      conversationKey: this.key,
      person: by,
      entry: {
        author: { kind: "person", id: by.id, name: by.name },
        kind: "message",
        platformId,
        at,
        text,
        body: {},
        files: [],
        nativeReplyTo: replyTo,
      },
      wake: (botIds ?? [this.bot.id]).map((botId) => ({
        botId,
        installationId: installation.id,
        mail: mail === null ? undefined : this.mailOf({ authorId: by.id, authorName: by.name, orderAt: at, ...mail }),
      })),
      mailLimit: 50,
      ...more,
    };
  }

  /** Takes a person's message in and expects it to be stored. */
  async say(text: string, said: Said = {}): Promise<Stored> {
    const result = await this.store.takeIn(this.event(text, said));
    if (result.status !== "stored") throw new Error(`expected stored, got ${result.status}`);
    return result;
  }

  /** The session that a message here wakes. */
  async wake(text = "hello", said: Said = {}): Promise<string> {
    const { woken } = await this.say(text, said);
    return woken[0]?.sessionId ?? "";
  }

  async tryClaim(
    sessionId: string,
    owner = unique("w"),
    times: Partial<typeof claimTimes> = {},
  ): Promise<Claim | null> {
    return (await this.store.claim({ sessionId, owner, ...claimTimes, ...times })).claim;
  }

  async claim(sessionId: string, owner?: string): Promise<Claim> {
    const claim = await this.tryClaim(sessionId, owner);
    if (!claim) throw new Error("expected a claim");
    return claim;
  }

  /** A claimed session whose turn has taken all due mail. */
  async begin(sessionId: string, turnId = unique("t")): Promise<{ claim: Claim; turnId: string }> {
    const claim = await this.claim(sessionId);
    const { due } = await this.store.viewSession(claim);
    await this.beginWith(
      claim,
      turnId,
      due.map((mail) => mail.id),
    );
    return { claim, turnId };
  }

  beginWith(claim: Claim, turnId: string, mailIds: readonly string[], more: Partial<BeginTurn> = {}) {
    const { ref, key, installation, ann } = this;
    return this.store.beginTurn(claim, {
      turnId,
      route: { conversationKey: key, ref, installationId: installation.id },
      authority: { role: "member", personIds: [ann.id], names: { [ann.id]: ann.name } },
      progress: noProgress,
      mailIds,
      ...more,
    });
  }

  async finish(claim: Claim, turnId: string, more: object = {}): Promise<void> {
    await this.store.finishTurn(claim, {
      turnId,
      status: "done",
      outcome: "sent",
      nodes: [],
      progress: noProgress,
      ...more,
    });
  }

  /** A running turn whose first reply asks for `calls` bubbles. */
  async reply(calls = 1): Promise<{ sessionId: string; claim: Claim; turnId: string }> {
    const sessionId = await this.wake();
    const { claim, turnId } = await this.begin(sessionId);
    await this.replyWith(claim, turnId, 1, calls);
    return { sessionId, claim, turnId };
  }

  async replyWith(
    claim: Claim,
    turnId: string,
    step: number,
    count: number,
    parent: string | null = null,
  ): Promise<void> {
    const calls = Array.from({ length: count }, (_, i) => ({ id: `c${i}`, name: "SendMessage", args: { n: i } }));
    const node = {
      hash: unique("n"),
      parent,
      kind: "reply" as const,
      message: { role: "assistant" as const, text: "", calls },
    };
    await this.store.commitReply(claim, { turnId, step, node, calls, progress: noProgress });
  }

  delivery(more: Partial<NewDelivery> = {}): NewDelivery {
    const place: Place = { installationId: this.installation.id, ref: this.ref };
    return {
      entryId: unique("e"),
      conversationKey: this.key,
      botId: this.bot.id,
      botName: this.bot.name,
      kind: "bubble",
      text: "hi",
      body: { kind: "bubble" },
      files: [],
      personCount: 1,
      place,
      nativeChannel: `test/${this.key}`,
      pieces: ["hi"],
      ...more,
    };
  }

  /** A widget of this bot, answered by Ann. */
  card(more: Partial<NonNullable<NewDelivery["card"]>> = {}): NonNullable<NewDelivery["card"]> {
    const options = ["yes", "no"].map((label) => ({ label, value: label, style: "default" as const }));
    return {
      id: unique("k"),
      kind: "widget",
      spec: { kind: "widget", widget: { prompt: "Go?", options, allowCustom: false, dismissOnMoveOn: false } },
      allowed: [this.ann.id],
      ...more,
    };
  }

  /** A person's use of a card. */
  answer(cardId: string, more: Partial<NonNullable<TakeIn["card"]>> = {}, said: Said = {}): TakeIn {
    const { by = this.ann } = said;
    const answer = { values: ["yes"], labels: ["yes"] };
    const event = this.event("yes", {
      mail: { body: { type: "answer", role: "member", cardId, prompt: "Go?", answer } },
      dedupeKey: unique("click"),
      ...said,
    });
    const { entry } = event;
    return {
      ...event,
      entry: entry && { ...entry, kind: "answer", platformId: undefined },
      card: { cardId, state: "answered", by, answer, ...more },
    };
  }
}

/** A new bot, alone in a new channel. */
export async function newPlace(
  store: Store,
  more: { kind?: "direct" | "channel"; lanes?: number; platform?: string } = {},
): Promise<TestPlace> {
  const orgId = unique("org");
  const botId = unique("bot");
  const workspaceId = unique("W");
  const platform = more.platform ?? "test";
  const seed = { id: botId, name: "Ada", role: "Helps", model: "demo/demo", lanes: more.lanes ?? 4 };
  const [bot] = await store.syncBots(orgId, [seed]);
  if (!bot) throw new Error("no bot");
  const installation = await store.saveInstallation(orgId, {
    botId,
    platform,
    appId: unique("A"),
    workspaceId,
    botUserId: "UBOT",
    otherIds: ["BBOT"],
    credentialRef: "settings",
  });
  const kind = more.kind ?? "channel";
  return new TestPlace(store, bot, installation, { platform, workspaceId, kind, channelId: unique("C") });
}
