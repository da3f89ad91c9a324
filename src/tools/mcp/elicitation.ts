/**
 * A server's question to the person in the middle of a call (SPEC P2): each field becomes a card in the conversation of that call, answered by the
 * person it serves; a page to open becomes a link card. Invariant: when it is not certain whose call asks, nobody is asked; nothing is filled in for a
 * person who does not answer.
 */

import { z } from "zod";
import type { PersonReply, Widget } from "../../engine/index.ts";
import type { Flight } from "./connection-call.ts";
import { type AskedField, checkValue, type FieldValue, toWidget } from "./elicited-fields.ts";
import type { ElicitationReply } from "./opened-client.ts";
import { oneText } from "./tool-schemas.ts";

const MAX_FIELDS = 15;
const MAX_TRIES = 3;
const CANCEL: ElicitationReply = { action: "cancel" };
const DECLINE: ElicitationReply = { action: "decline" };

const request = z.union([
  z.object({ mode: z.literal("url"), message: z.string(), url: z.url({ protocol: /^https?$/ }) }),
  z.object({
    mode: z.literal("form").optional(),
    message: z.string(),
    requestedSchema: z.object({
      properties: z.record(z.string(), z.record(z.string(), z.unknown())),
      required: z.array(z.string()).optional(),
    }),
  }),
]);

/** Asks the person of the one call that is running. */
export async function elicit(
  flights: readonly Flight[],
  params: unknown,
  signal: AbortSignal,
): Promise<ElicitationReply> {
  const read = request.safeParse(params);
  const [flight] = flights;
  // With calls of several sessions under way (two bots may speak in one place) the question could reach the wrong person.
  const isCertain = new Set(flights.map(({ context }) => context.sessionId)).size === 1;
  if (!read.success || !flight || !isCertain) return CANCEL;
  flight.asking += 1;
  try {
    return "url" in read.data ? await askPage(flight, read.data) : await askForm(flight, read.data, signal);
  } finally {
    flight.asking -= 1;
  }
}

async function askPage(flight: Flight, asked: { message: string; url: string }): Promise<ElicitationReply> {
  const host = new URL(asked.url).host;
  const text = `The connector **${flight.connector}** asks you to open a page on **${host}**: ${oneText(asked.message, 800)}\nWhat you enter there is not shown to ${flight.context.bot.name}.`;
  const reply = await flight.context.askPerson({ text, label: "Open the page", url: asked.url });
  return reply.outcome === "answered" ? { action: "accept" } : reply.outcome === "declined" ? DECLINE : CANCEL;
}

async function askForm(
  flight: Flight,
  asked: {
    message: string;
    requestedSchema: { properties: Record<string, Record<string, unknown>>; required?: string[] | undefined };
  },
  signal: AbortSignal,
): Promise<ElicitationReply> {
  const { properties, required = [] } = asked.requestedSchema;
  const names = Object.keys(properties);
  if (names.length > MAX_FIELDS) return CANCEL;
  if (names.length === 0) return askConsent(flight, asked.message);
  const content: Record<string, FieldValue> = {};
  for (const [index, name] of names.entries()) {
    if (signal.aborted) return CANCEL;
    const intro = `The connector **${flight.connector}** asks: ${oneText(asked.message, 600)}${names.length > 1 ? ` (${index + 1} of ${names.length})` : ""}`;
    const field: AskedField = { name, schema: properties[name] ?? {}, isRequired: required.includes(name), intro };
    const value = await askField(flight, field);
    if ("reply" in value) return value.reply;
    if (value.value !== undefined) content[name] = value.value;
  }
  return { action: "accept", content };
}

/** A question without fields asks for a yes alone, which nobody but the person gives. */
async function askConsent(flight: Flight, message: string): Promise<ElicitationReply> {
  const reply = await flight.context.askPerson({
    prompt: `The connector **${flight.connector}** asks: ${oneText(message, 800)}`,
    options: [
      { value: "accept", label: "Accept", style: "primary" },
      { value: "decline", label: "Decline", style: "danger" },
    ],
    allowCustom: false,
    dismissOnMoveOn: false,
  });
  if (reply.outcome === "answered") return { action: "accept", content: {} };
  return reply.outcome === "declined" ? DECLINE : CANCEL;
}

/** One field; asks again, with the reason, when the answer does not fit. */
async function askField(
  flight: Flight,
  field: AskedField,
): Promise<{ readonly reply: ElicitationReply } | { readonly value: FieldValue | undefined }> {
  let problem = "";
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const widget: Widget = toWidget(field, problem);
    const reply: PersonReply = await flight.context.askPerson(widget);
    if (reply.outcome !== "answered") return { reply: reply.outcome === "declined" ? DECLINE : CANCEL };
    const check = checkValue(field, reply.answer);
    if (check.ok) return { value: check.value };
    problem = check.problem;
  }
  return { reply: CANCEL };
}
