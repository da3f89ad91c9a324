/**
 * Clicks and forms. Each becomes an InboundEvent; the answer of `receive` decides what the person sees.
 * Invariant: every interaction is acknowledged within a second or so whatever the database does, on a path that shares nothing with turns, and no
 * click meets silence: a refusal or failure is told privately (SPEC C1). Who may answer is decided by `receive`.
 */

import type { InboundEvent, PersonRef, Reception } from "../../engine/index.ts";
import { personId } from "../../engine/index.ts";
import { type ControlRef, readControlId } from "../shared/control-id.ts";
import { type Fields, toFields, toList, toText, toTexts } from "../shared/fields.ts";
import type { SlackBot } from "./bot.ts";
import { handleCommand } from "./commands.ts";
import { problemOf } from "./errors.ts";
import { conversationOf } from "./inbound.ts";
import { type Listener, tellPrivately } from "./notices.ts";
import type { Acknowledge } from "./receiver.ts";
import {
  answerModal,
  type FormOrigin,
  formError,
  linkNotice,
  linkWords,
  readOrigin,
  readSecret,
  readTyped,
  secretModal,
} from "./secret-form.ts";

/** A click is acknowledged at the latest after this, ms; the outcome then comes as a private notice or a redraw. */
const CLICK_ACK_MS = 700;
/** A form keeps the person waiting for its verdict a little longer, so that a fault can be shown at the field. Slack gives up at 3 s. */
const FORM_ACK_MS = 2200;

const NOT_STORED = "That could not be recorded just now. Please try again.";
const UNKNOWN_CONTROL = "This control belongs to nothing that is still open. Nothing was done.";
const CLOSED = "This is closed already. Nothing was done.";

/** Handles one interaction of a bot. Never rejects because of what Slack sent. */
export async function handleInteraction(bot: SlackBot, body: Fields, acknowledge: Acknowledge): Promise<void> {
  switch (body.type) {
    case "block_actions":
      return handleClick(bot, body, acknowledge);
    case "view_submission":
      return handleForm(bot, body, acknowledge);
    case "block_suggestion":
      return acknowledge({ options: [] });
    default:
      return body.command === undefined ? acknowledge() : handleCommand(bot, body, acknowledge);
  }
}

/** What a click says, once its shape was checked. */
interface Click {
  readonly control: ControlRef;
  readonly action: Fields;
  readonly body: Fields;
  readonly origin: FormOrigin;
  readonly listener: Listener;
}

async function handleClick(bot: SlackBot, body: Fields, acknowledge: Acknowledge): Promise<void> {
  const action = toList(body.actions)[0] ?? {};
  const control = readControlId(toText(action.action_id) ?? "");
  const origin = originOf(body);
  const userId = toText(toFields(body.user).id);
  if (control?.verb === "open" || control?.verb === "tick" || toText(action.url) !== undefined) return acknowledge();
  if (!origin || userId === undefined) return acknowledge();
  const listener: Listener = {
    channelId: origin.channelId,
    userId,
    threadTs: origin.threadTs,
    responseUrl: toText(body.response_url),
  };
  if (!control) {
    acknowledge();
    return tellPrivately(bot, listener, UNKNOWN_CONTROL);
  }
  const click: Click = { control, action, body, origin, listener };
  if (control.verb === "other" || control.verb === "secret-form") return openForm(bot, click, acknowledge);
  const reception = await receiveInTime(
    bot,
    () => clickEvent(bot, click),
    CLICK_ACK_MS,
    () => acknowledge(),
  );
  acknowledge();
  await showReception(bot, click, reception);
}

/** Slack's trigger lives three seconds: the form opens before anything else is asked. */
async function openForm(bot: SlackBot, click: Click, acknowledge: Acknowledge): Promise<void> {
  acknowledge();
  const { cardId, verb } = click.control;
  const view = verb === "other" ? answerModal(cardId, click.origin) : secretModal(cardId, click.origin);
  try {
    await bot.calls.fast("views.open", { trigger_id: toText(click.body.trigger_id), view });
  } catch (error) {
    bot.log.warn({ code: problemOf(error).code }, "a slack form could not be opened");
    await tellPrivately(bot, click.listener, "The form could not be opened. Please press the button again.");
  }
}

async function showReception(bot: SlackBot, click: Click, reception: Reception | undefined): Promise<void> {
  if (reception === undefined) return tellPrivately(bot, click.listener, NOT_STORED);
  if (reception.status === "duplicate") return;
  if (click.control.verb === "secret-link" && reception.link !== undefined) {
    return tellLink(bot, click.listener, reception.link, click.control.cardId);
  }
  if (reception.status !== "accepted") return tellPrivately(bot, click.listener, reception.reason ?? CLOSED);
}

/** The one-time link, for one person's eyes. `cardId` = with the request's other controls. */
export function tellLink(bot: SlackBot, listener: Listener, link: string, cardId?: string): Promise<void> {
  const notice = cardId !== undefined && bot.looks.cards ? linkNotice(link, cardId) : linkWords(link);
  return tellPrivately(bot, listener, notice.words, notice.blocks);
}

async function handleForm(bot: SlackBot, body: Fields, acknowledge: Acknowledge): Promise<void> {
  const view = toFields(body.view);
  const control = readControlId(toText(view.callback_id) ?? "");
  const origin = readOrigin(view);
  const userId = toText(toFields(body.user).id);
  const isOurs = control?.verb === "secret" || control?.verb === "typed";
  if (!control || !isOurs || !origin || userId === undefined) return acknowledge(formError(UNKNOWN_CONTROL));
  const reception = await receiveInTime(
    bot,
    () => formEvent(bot, control, origin, userId, view),
    FORM_ACK_MS,
    () => acknowledge({ response_action: "clear" }),
  );
  const reason = reception === undefined ? NOT_STORED : refusalOf(reception);
  if (reason === undefined) return acknowledge({ response_action: "clear" });
  // After the form was cleared this acknowledgement does nothing, and the notice is what the person sees.
  acknowledge(formError(reason));
  if (reception === undefined)
    await tellPrivately(bot, { channelId: origin.channelId, userId, threadTs: origin.threadTs }, reason);
}

function refusalOf(reception: Reception): string | undefined {
  return reception.status === "accepted" || reception.status === "duplicate" ? undefined : (reception.reason ?? CLOSED);
}

/** Stores the event; calls `onSlow` when that takes longer than `ms`. Undefined means it could not be stored. */
async function receiveInTime(
  bot: SlackBot,
  build: () => Promise<InboundEvent>,
  ms: number,
  onSlow: () => void,
): Promise<Reception | undefined> {
  const done = new AbortController();
  void bot.context.clock.delay(ms, done.signal).then(() => {
    if (!done.signal.aborted) onSlow();
  });
  try {
    return await bot.context.receive(await build());
  } catch (error) {
    bot.log.error({ error: error instanceof Error ? error.name : "" }, "a slack interaction could not be stored");
    return undefined;
  } finally {
    done.abort();
  }
}

function originOf(body: Fields): FormOrigin | undefined {
  const container = toFields(body.container);
  const message = toFields(body.message);
  const channelId = toText(toFields(body.channel).id) ?? toText(container.channel_id);
  const messageTs = toText(container.message_ts) ?? toText(message.ts);
  if (channelId === undefined || messageTs === undefined) return undefined;
  return { channelId, messageTs, threadTs: toText(container.thread_ts) ?? toText(message.thread_ts) };
}

async function personOf(bot: SlackBot, userId: string): Promise<PersonRef> {
  const known = await bot.directory.person(userId);
  return {
    id: personId("slack", bot.self.workspaceId, userId),
    platformId: userId,
    name: known.name,
    kind: known.kind,
  };
}

function baseOf(bot: SlackBot, origin: FormOrigin, mark: string) {
  const { channelId, messageTs, threadTs } = origin;
  return {
    dedupeKey: `slack:${bot.self.workspaceId}:${channelId}:${messageTs}:${mark}`,
    installationId: bot.self.installationId,
    conversation: conversationOf(bot.self, channelId, { ts: messageTs, threadTs }),
    at: new Date(bot.context.clock.now()),
  };
}

async function clickEvent(bot: SlackBot, click: Click): Promise<InboundEvent> {
  const { control, action, origin, listener } = click;
  const { cardId } = control;
  const from = await personOf(bot, listener.userId);
  const pressedAt = toText(action.action_ts) ?? toText(click.body.trigger_id) ?? String(bot.context.clock.now());
  const base = baseOf(bot, origin, `click:${listener.userId}:${pressedAt}`);
  if (control.verb === "decline") return { type: "dismiss", ...base, from, cardId };
  if (control.verb === "secret-link") return { type: "secret-link", ...base, from, cardId };
  return { type: "answer", ...base, from, cardId, choices: await valuesOf(bot, cardId, tokensOf(click)) };
}

function tokensOf(click: Click): readonly string[] {
  const { control, action, body } = click;
  if (control.verb === "pick") return toTexts([action.value]);
  if (control.verb === "menu") return toTexts([toFields(action.selected_option).value]);
  for (const block of Object.values(toFields(toFields(body.state).values))) {
    for (const [id, entry] of Object.entries(toFields(block))) {
      const ticked = readControlId(id);
      if (ticked?.verb !== "tick" || ticked.cardId !== control.cardId) continue;
      return toTexts(toList(toFields(entry).selected_options).map((option) => option.value));
    }
  }
  return [];
}

/** Where option values were too long for a control, their numbers are looked up. */
async function valuesOf(bot: SlackBot, cardId: string, tokens: readonly string[]): Promise<readonly string[]> {
  if (!tokens.some((token) => token.startsWith("#"))) return tokens;
  const values = toTexts(await bot.context.kv.get(valuesKey(cardId)));
  return tokens.map((token) => (/^#\d{1,3}$/.test(token) ? (values[Number(token.slice(1))] ?? token) : token));
}

/** Where a card's option values are kept while its controls hold their numbers. */
export function valuesKey(cardId: string): string {
  return `slack:values:${cardId}`;
}

async function formEvent(
  bot: SlackBot,
  control: ControlRef,
  origin: FormOrigin,
  userId: string,
  view: Fields,
): Promise<InboundEvent> {
  const { cardId } = control;
  const secret = control.verb === "secret" ? readSecret(view) : undefined;
  const from = await personOf(bot, userId);
  const base = baseOf(bot, origin, `form:${userId}:${toText(view.id) ?? ""}:${toText(view.hash) ?? ""}`);
  if (secret) return { type: "secret", ...base, from, cardId, value: secret };
  return { type: "answer", ...base, from, cardId, choices: [], text: readTyped(view) };
}
