/**
 * Takes gateway events in: looks up what they need, makes InboundEvents, hands them to the engine and repeats that until they are stored.
 * Invariant: events of one channel are taken in in order and those of different channels never wait for each other; an event counts as taken in only
 * when it was stored or is of no interest; clicks do not pass through here.
 */

import type { InboundEvent } from "../../engine/index.ts";
import { type Fields, toFields, toText } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";
import type { Copies } from "./copies.ts";
import { isThread, type Place } from "./directory.ts";
import { problemOf } from "./errors.ts";
import { conversationOf, type Knowledge, toDeletes, toEdit, toMessage, toReaction } from "./inbound.ts";
import { type IsOurs, isWithheld, kindOf, lacksReplied, namesOwnRole } from "./inbound-kind.ts";
import type { Names } from "./inbound-text.ts";
import { tellLink } from "./private-link.ts";

/** Takes events of one bot. */
export interface Intake {
  /** Resolves when the event is stored or of no interest; rejects only when `stopping` ended that. */
  take(event: string, data: Fields): Promise<void>;
  /** Events that are being stored now. */
  readonly open: number;
}

/** What taking in needs beside the bot. */
export interface IntakeParts {
  readonly bot: DiscordBot;
  readonly isOurs: IsOurs;
  readonly copies: Copies;
  readonly stopping: AbortSignal;
}

const RETRY_MS = [100, 300, 1000, 3000, 10_000];
/** Looking something up is tried this often before the event is taken in without it. */
const LOOKUPS = 2;

/** Creates the intake of one bot. */
export function createIntake(parts: IntakeParts): Intake {
  const chains = new Map<string, Promise<void>>();
  let open = 0;
  return {
    async take(event, data) {
      const kind = kindOf(event, data, parts.isOurs);
      if (kind === "ignored") return;
      if (kind === "echo") return noteEcho(parts.bot, data);
      const key = toText(data.channel_id) ?? "";
      const work = () => takeIn(parts, event, data);
      // A copy without words waits for others: behind nothing and before nothing.
      if (kind === "message" && isWithheld(data, parts.bot.self)) return work();
      open += 1;
      const before = chains.get(key) ?? Promise.resolve();
      const mine = before.then(work);
      chains.set(key, mine);
      try {
        await mine;
      } finally {
        open -= 1;
        if (chains.get(key) === mine) chains.delete(key);
      }
    },
    get open() {
      return open;
    },
  };
}

function noteEcho(bot: DiscordBot, data: Fields): void {
  const nonce = data.nonce;
  const id = toText(data.id);
  const isOwn = toText(toFields(data.author).id) === bot.self.botUserId;
  if (isOwn && id !== undefined && (typeof nonce === "string" || typeof nonce === "number"))
    bot.echoes.note(String(nonce), id);
}

async function takeIn(parts: IntakeParts, event: string, data: Fields): Promise<void> {
  const { bot, copies, stopping } = parts;
  try {
    if (event === "MESSAGE_CREATE" && !isWithheld(data, bot.self)) copies.seen(toText(data.id) ?? "");
    else if (event === "MESSAGE_CREATE" && !(await isWanted(parts, data))) return;
    const inbound = await repeating(parts, () => understand(bot, event, data));
    for (const one of inbound ?? []) {
      const reception = await repeating(parts, () => bot.context.receive(one));
      if (reception?.link !== undefined && one.type === "message") void tellLink(bot, one, reception.link);
    }
  } catch (error) {
    // Not taken in: the next process gets it again.
    if (stopping.aborted) throw error;
    bot.log.error({ event, error: nameOf(error) }, "a discord event could not be understood");
  }
}

/** A copy without words is wanted only when no other has them and the bot is meant all the same. */
async function isWanted({ bot, copies, stopping }: IntakeParts, data: Fields): Promise<boolean> {
  if (await copies.cameElsewhere(toText(data.id) ?? "", stopping)) return false;
  const guild = await bot.directory.guild(bot.calls, toText(data.guild_id) ?? "");
  const names: Names = { user: () => undefined, role: (id) => guild?.roles.get(id), channel: () => undefined };
  return namesOwnRole(data, bot.self, names);
}

async function understand(bot: DiscordBot, event: string, data: Fields): Promise<readonly InboundEvent[]> {
  const knowledge = await learn(bot, data);
  const now = new Date(bot.context.clock.now());
  const some = <T>(value: T | undefined) => (value === undefined ? [] : [value]);
  switch (event) {
    case "MESSAGE_CREATE":
      return some(toMessage(data, knowledge));
    case "MESSAGE_UPDATE":
      return some(toEdit(data, knowledge));
    case "MESSAGE_DELETE":
    case "MESSAGE_DELETE_BULK":
      return toDeletes(data, knowledge, now);
    default:
      return some(toReaction(event, data, knowledge, now));
  }
}

/** Looks up where the event happened and what its words refer to. */
export async function learn(bot: DiscordBot, data: Fields): Promise<Knowledge> {
  const channelId = toText(data.channel_id) ?? "";
  const guildId = toText(data.guild_id);
  const { directory, calls } = bot;
  const [place, guild, replied, installationId] = await Promise.all([
    guildId === undefined ? undefined : placeOf(bot, channelId, data.channel_type),
    guildId === undefined ? undefined : quietly(() => directory.guild(calls, guildId)),
    repliedOf(bot, data),
    bot.installs.of(guildId),
  ]);
  const parentId = isThread(place?.type) ? place?.parentId : undefined;
  const parent = parentId === undefined ? undefined : await quietly(() => directory.place(calls, parentId));
  const names: Names = {
    user: (id) => bot.ours.get(id),
    role: (id) => guild?.roles.get(id),
    channel: (id) => directory.knownPlace(id)?.name,
  };
  return {
    self: bot.self,
    installationId,
    conversation: conversationOf(guildId, channelId, place, parent?.name),
    names,
    ...(replied === undefined ? {} : { replied }),
  };
}

/**
 * A message in a thread belongs to the thread's conversation, so a thread must be known as one: where Discord cannot be asked just now, the event
 * waits. For other channels only the name is missing then.
 */
async function placeOf(bot: DiscordBot, channelId: string, type: unknown): Promise<Place | undefined> {
  const ask = () => bot.directory.place(bot.calls, channelId);
  if (typeof type !== "number" || isThread(type)) return ask();
  return (await quietly(ask)) ?? { id: channelId, type };
}

/** The answered message: in the event, or asked for once. Without it the message is taken in all the same. */
async function repliedOf(bot: DiscordBot, data: Fields): Promise<Fields | undefined> {
  if (!lacksReplied(data))
    return data.type === 19 && data.referenced_message ? toFields(data.referenced_message) : undefined;
  const reference = toFields(data.message_reference);
  const channelId = toText(reference.channel_id) ?? toText(data.channel_id);
  const messageId = toText(reference.message_id);
  if (channelId === undefined || messageId === undefined) return undefined;
  const found = await quietly(() => bot.calls.call("get", `/channels/${channelId}/messages/${messageId}`));
  return found === undefined ? undefined : toFields(found);
}

async function quietly<T>(ask: () => Promise<T>): Promise<T | undefined> {
  for (let attempt = 1; attempt <= LOOKUPS; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const { problem } = problemOf(error);
      // A place that is gone stays gone; anything else is worth one more try, and then the event goes on without it.
      if (problem === "place" || problem === "content") return undefined;
    }
  }
  return undefined;
}

/** Storing is repeated until it works: Discord does not deliver an event twice. */
async function repeating<T>({ bot, stopping }: IntakeParts, work: () => Promise<T>): Promise<T | undefined> {
  for (let attempt = 0; !stopping.aborted; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      bot.log.warn({ attempt, error: nameOf(error) }, "a discord event could not be stored yet");
      await bot.context.clock.delay(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? 1000, stopping);
    }
  }
  throw new Error("stopping");
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}
