/**
 * Calls that a person must allow first (SPEC C8). The card holds the whole call; its answer is mail, and the turn it wakes runs that call by the
 * same stored steps as one the model asks for, so that a crash neither loses nor repeats it. The model cannot change it in between.
 */

import { createHash } from "node:crypto";
import type { HostCard } from "../card.ts";
import type { ModelCall } from "../model-message.ts";
import type { ToolResult } from "../tool.ts";
import type { TurnRun } from "./turn-run.ts";
import { postWaitingCard } from "./waiting-card.ts";

/** Characters of the arguments a card shows; longer ones are named by their fingerprint too. */
const SHOWN_CHARS = 2200;

/** Signs that are not seen or turn the direction of reading: what is approved must read as it is. */
const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}\u{115f}\u{1160}\u{3164}\u{ffa0}]/gu;

/** Posts the card as the effect of the call with this index, and ends the turn. */
export async function askApproval(run: TurnRun, index: number, about: string): Promise<ToolResult> {
  const { parts, bot } = run;
  const call = run.calls[index]?.call;
  if (!call) return { ok: false, text: "Not run: the call is not known." };
  if (run.kind === "peer" || run.turn.authority.personIds.length === 0) {
    return {
      ok: false,
      text: `Not run: ${call.name} needs a person's approval, and nobody can be asked here. Say so to whom you work for; in a conversation with a person the call can be approved.`,
    };
  }
  if (run.progress.waitingCardId) {
    return {
      ok: false,
      text: "Not run: you are already waiting on the person. Send the call again when they have answered.",
    };
  }
  const card: HostCard = {
    kind: "approval",
    text: parts.mask(`**${bot.name} asks for your approval:** ${about}\n${shownArguments(call.args)}`),
    controls: [
      { value: "approve", label: "Approve", style: "primary" },
      { value: "decline", label: "Decline", style: "danger" },
    ],
  };
  await postWaitingCard(run, index, card, { call: { name: call.name, args: call.args }, hash: hashOf(call), about });
  return {
    ok: true,
    text: "waiting for approval: the person was shown exactly this call. Your turn is over. When they approve, the host runs it and you get its result; do not call it again.",
  };
}

/** The next call that was approved and not run yet, as the host makes it; undefined when there is none. */
export function approvedCall(run: TurnRun): ModelCall | undefined {
  const made = new Set(
    run.messages.flatMap((message) => (message.role === "assistant" ? message.calls : [])).map(({ id }) => id),
  );
  const bodies = run.mail.flatMap(({ body }) => (body.type === "approved" ? [body] : []));
  const body = bodies.find(({ cardId }) => !made.has(callIdOf(cardId)));
  return body && { id: callIdOf(body.cardId), name: body.call.name, args: body.call.args };
}

/** True for the one call that the host made from an approval of this turn. A model that copies its id gains nothing: the id counts once. */
export function isApproved(run: TurnRun, call: ModelCall): boolean {
  const made = run.messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  if (made.filter(({ id }) => id === call.id).length > 1) return false;
  return run.mail.some(
    ({ body }) => body.type === "approved" && callIdOf(body.cardId) === call.id && hashOf(body.call) === hashOf(call),
  );
}

/** Fingerprint of a call: name and arguments, whatever the order of keys. */
export function hashOf(call: { readonly name: string; readonly args: unknown }): string {
  return createHash("sha256")
    .update(JSON.stringify([call.name, sorted(call.args)]))
    .digest("hex");
}

function callIdOf(cardId: string): string {
  return `ok_${createHash("sha256").update(cardId).digest("hex").slice(0, 24)}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}

function shownArguments(args: unknown): string {
  const text = JSON.stringify(args ?? {}, null, 1)
    .replaceAll("```", "'''")
    .replace(UNSEEN, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
  if (text.length <= SHOWN_CHARS) return `\`\`\`json\n${text}\n\`\`\``;
  const fingerprint = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return `\`\`\`json\n${text.slice(0, SHOWN_CHARS)}\n\`\`\`\n… and ${text.length - SHOWN_CHARS} more characters (fingerprint ${fingerprint}).`;
}
