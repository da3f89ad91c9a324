/**
 * Clicks, menus, forms and commands. Each becomes an InboundEvent; the answer of `receive` decides what the person sees.
 * Invariant: every interaction is answered within a second or so whatever the database does, on a path that shares nothing with turns or messages, and
 * none meets silence: a refusal or failure is told privately (SPEC C1). Who may answer is decided by `receive`.
 */

import type { InboundEvent, Reception } from "../../engine/index.ts";
import { type ControlRef, readControlId } from "../shared/control-id.ts";
import { type Fields, toText, toTexts } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";
import { commandEvent, commandName } from "./commands.ts";
import { dateOfId } from "./inbound.ts";
import {
  ANSWER,
  finishLater,
  type Interaction,
  readInteraction,
  respond,
  respondPrivately,
  tellLater,
} from "./interactions.ts";
import { answerForm, linkNotice, readSecret, readTyped, secretForm } from "./secret-form.ts";

/** A click is answered at the latest after this, ms; what came of it is then told or drawn later. */
const CLICK_ACK_MS = 700;
/** A form keeps the person waiting for its verdict a little longer; Discord gives up at 3 s. */
const FORM_ACK_MS = 900;

const NOT_STORED = "That could not be recorded just now. Please try again.";
const UNKNOWN_CONTROL = "This control belongs to nothing that is still open. Nothing was done.";
const CLOSED = "This is closed already. Nothing was done.";
const PRIVATE_ANSWER = { flags: 64 };

/** Handles one interaction of a bot. Never rejects because of what Discord sent. */
export async function handleInteraction(bot: DiscordBot, raw: Fields): Promise<void> {
  const it = readInteraction(bot, raw);
  if (!it) return;
  switch (raw.type) {
    case 2:
      return handleCommand(bot, it);
    case 3:
      return handleClick(bot, it);
    case 4:
      await respond(bot, it, ANSWER.choices, { choices: [] });
      return;
    case 5:
      return handleForm(bot, it);
    default:
  }
}

async function handleClick(bot: DiscordBot, it: Interaction): Promise<void> {
  const control = readControlId(toText(it.data.custom_id) ?? "");
  if (!control) return void (await respondPrivately(bot, it, UNKNOWN_CONTROL));
  // A form must be the very first answer, so nothing is asked before; who may hand it in is checked when it is.
  if (control.verb === "other") return void (await respond(bot, it, ANSWER.form, answerForm(control.cardId)));
  if (control.verb === "secret-form") return void (await respond(bot, it, ANSWER.form, secretForm(control.cardId)));
  const slow = createDeadline(bot, CLICK_ACK_MS, () => respond(bot, it, ANSWER.nothing));
  const reception = await receiveSafely(bot, () => clickEvent(bot, it, control));
  const isAnswered = await slow.settle();
  const words = refusalOf(reception);
  if (reception?.link !== undefined && control.verb === "secret-link") {
    const notice = linkNotice(reception.link);
    if (isAnswered) await tellLater(bot, it, notice.words, notice.components);
    else await respondPrivately(bot, it, notice.words, notice.components);
    return;
  }
  if (words === undefined) {
    if (!isAnswered) await respond(bot, it, ANSWER.nothing);
    return;
  }
  if (isAnswered) await tellLater(bot, it, words);
  else await respondPrivately(bot, it, words);
}

async function handleForm(bot: DiscordBot, it: Interaction): Promise<void> {
  const control = readControlId(toText(it.data.custom_id) ?? "");
  if (!control || (control.verb !== "secret" && control.verb !== "typed"))
    return void (await respondPrivately(bot, it, UNKNOWN_CONTROL));
  const slow = createDeadline(bot, FORM_ACK_MS, () => respond(bot, it, ANSWER.laterMessage, PRIVATE_ANSWER));
  const reception = await receiveSafely(bot, () => formEvent(bot, it, control));
  const isAnswered = await slow.settle();
  const thanks =
    control.verb === "secret" ? "Thank you. It is stored encrypted." : "Thank you, your answer was passed on.";
  const words = refusalOf(reception) ?? thanks;
  if (isAnswered) await finishLater(bot, it, words);
  else await respondPrivately(bot, it, words);
}

async function handleCommand(bot: DiscordBot, it: Interaction): Promise<void> {
  const slow = createDeadline(bot, CLICK_ACK_MS, () => respond(bot, it, ANSWER.laterMessage, PRIVATE_ANSWER));
  const reception = await receiveSafely(bot, async () => commandEvent(bot, it, await bot.installs.of(it.guildId)));
  const isAnswered = await slow.settle();
  const words =
    reception?.status === "ignored" ? "Nothing to do here." : (refusalOf(reception) ?? `✓ ${commandName(it)}`);
  if (isAnswered) await finishLater(bot, it, words);
  else await respondPrivately(bot, it, words);
}

function refusalOf(reception: Reception | undefined): string | undefined {
  if (reception === undefined) return NOT_STORED;
  return reception.status === "accepted" || reception.status === "duplicate" ? undefined : (reception.reason ?? CLOSED);
}

/** Answers when something takes too long; `settle` says whether it did. */
function createDeadline(bot: DiscordBot, ms: number, answer: () => Promise<boolean>) {
  const done = new AbortController();
  const answered = bot.context.clock
    .delay(ms, done.signal)
    .then(() => (done.signal.aborted ? false : answer().then(() => true)));
  return {
    settle(): Promise<boolean> {
      done.abort();
      return answered;
    },
  };
}

/** Stores the event. Undefined means it could not be stored. */
async function receiveSafely(bot: DiscordBot, build: () => Promise<InboundEvent>): Promise<Reception | undefined> {
  try {
    return await bot.context.receive(await build());
  } catch (error) {
    bot.log.error({ error: error instanceof Error ? error.name : "" }, "a discord interaction could not be stored");
    return undefined;
  }
}

async function baseOf(bot: DiscordBot, it: Interaction) {
  return {
    dedupeKey: `discord:${it.channelId}:interaction:${it.id}`,
    installationId: await bot.installs.of(it.guildId),
    conversation: it.conversation,
    at: dateOfId(it.id),
    from: it.from,
  };
}

async function clickEvent(bot: DiscordBot, it: Interaction, control: ControlRef): Promise<InboundEvent> {
  const { cardId, verb } = control;
  const base = await baseOf(bot, it);
  if (verb === "decline") return { type: "dismiss", ...base, cardId };
  if (verb === "secret-link") return { type: "secret-link", ...base, cardId };
  const tokens = verb === "pick" ? [`#${control.index ?? 0}`] : toTexts(it.data.values);
  return { type: "answer", ...base, cardId, choices: await valuesOf(bot, cardId, tokens) };
}

async function formEvent(bot: DiscordBot, it: Interaction, control: ControlRef): Promise<InboundEvent> {
  const { cardId, verb } = control;
  if (verb === "secret") {
    const value = readSecret(it.data);
    return { type: "secret", ...(await baseOf(bot, it)), cardId, value };
  }
  return { type: "answer", ...(await baseOf(bot, it)), cardId, choices: [], text: readTyped(it.data) };
}

/** Controls that say only the number of an option: its value is looked up. */
async function valuesOf(bot: DiscordBot, cardId: string, tokens: readonly string[]): Promise<readonly string[]> {
  if (!tokens.some((token) => token.startsWith("#"))) return tokens;
  const values = toTexts(await bot.context.kv.get(valuesKey(cardId)));
  return tokens.map((token) => (/^#\d{1,3}$/.test(token) ? (values[Number(token.slice(1))] ?? token) : token));
}

/** Where a card's option values are kept while its controls hold their numbers. */
export function valuesKey(cardId: string): string {
  return `values:${cardId}`;
}
