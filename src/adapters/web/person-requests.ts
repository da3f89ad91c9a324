/**
 * Requests by which a person acts: each checks its JSON, finds the place, and calls inbound or actions.
 * Invariant: a place that does not exist and one that belongs to somebody else are refused with the same words.
 */

import { SecretValue } from "../../engine/index.ts";
import { answerCard, type CardPlace, dismissCard, stopWork, takeSecret } from "./actions.ts";
import { mayRead, type Place } from "./channels.ts";
import { resolveUploads } from "./files.ts";
import { toWirePost } from "./format.ts";
import { HttpProblem, json, textField } from "./http.ts";
import type { Hub } from "./hub.ts";
import { takeMessage } from "./inbound.ts";
import { MAX_FILES, MAX_TEXT } from "./limits.ts";
import type { WirePerson } from "./wire.ts";

type Body = Readonly<Record<string, unknown>>;

/** The place with this id, if this person may read it. */
export async function placeFor(hub: Hub, person: WirePerson, channelId: string): Promise<Place> {
  const place = await hub.channels.place(channelId);
  const known = place?.kind !== "direct" || place.bots.some((id) => hub.bots.has(id));
  if (!place || !known || !mayRead(place, person.id)) throw new HttpProblem(404, "There is no such conversation.");
  return place;
}

/** POST /api/channels/<id>/messages {clientId, text, files?: [uploadId]} */
export async function send(hub: Hub, person: WirePerson, channelId: string, body: Body): Promise<Response> {
  const place = await placeFor(hub, person, channelId);
  const clientId = clientIdOf(body);
  const text = textField(body, "text", 'Send the message as "text".').replace(/\r\n?/g, "\n").replace(/\0/g, "").trim();
  if (text.length > MAX_TEXT) {
    throw new HttpProblem(
      422,
      `This message has ${text.length} characters; ${MAX_TEXT} is the limit. Send it as a file.`,
    );
  }
  const ids = listOfText(body.files, "files");
  if (ids.length > MAX_FILES) throw new HttpProblem(422, `A message takes at most ${MAX_FILES} files.`);
  if (!text && ids.length === 0) throw new HttpProblem(422, "The message is empty.");
  const files = await resolveUploads(hub, person, ids);
  const { seq, post, reception } = await takeMessage(hub, person, place, { clientId, text, files });
  return json({ post: toWirePost(place.id, seq, post, hub.markdown), reception });
}

/** POST /api/channels/<id>/read {seq} */
export async function markRead(hub: Hub, person: WirePerson, channelId: string, body: Body): Promise<Response> {
  const place = await placeFor(hub, person, channelId);
  const seq = numberField(body, "seq");
  const key = readKey(person.id, place.id);
  const known = Number((await hub.kv.get(key)) ?? 0);
  if (seq > known) await hub.kv.set(key, seq);
  return json({ read: Math.max(seq, known) });
}

/** Where a person's reading position is kept. */
export function readKey(person: string, channelId: string): string {
  return `read/${person}/${channelId}`;
}

/** POST /api/channels/<id>/stop */
export async function stop(hub: Hub, person: WirePerson, channelId: string): Promise<Response> {
  return json(await stopWork(hub, person, await placeFor(hub, person, channelId)));
}

/** POST /api/answers {channelId, seq, clientId, choices?: [value], text?} */
export async function answer(hub: Hub, person: WirePerson, body: Body): Promise<Response> {
  const at = await cardPlace(hub, person, body);
  const choices = listOfText(body.choices, "choices");
  const text = typeof body.text === "string" ? body.text.trim() : "";
  if (choices.length === 0 && !text) throw new HttpProblem(422, "Choose an option or type an answer.");
  const given = { choices, clientId: clientIdOf(body), ...(text ? { text } : {}) };
  return json(await answerCard(hub, person, at, given));
}

/** POST /api/dismissals {channelId, seq} */
export async function dismiss(hub: Hub, person: WirePerson, body: Body): Promise<Response> {
  return json(await dismissCard(hub, person, await cardPlace(hub, person, body)));
}

/** POST /api/secrets {channelId, seq, value}. The value is in the body only and is not kept here. */
export async function secret(hub: Hub, person: WirePerson, body: Body): Promise<Response> {
  const at = await cardPlace(hub, person, body);
  const value = textField(body, "value", "Enter the secret.");
  if (!value) throw new HttpProblem(422, "Enter the secret.");
  return json(await takeSecret(hub, person, at, new SecretValue(value)));
}

async function cardPlace(hub: Hub, person: WirePerson, body: Body): Promise<CardPlace> {
  const channelId = textField(body, "channelId", 'Say in which conversation: "channelId".');
  return { place: await placeFor(hub, person, channelId), seq: numberField(body, "seq") };
}

function clientIdOf(body: Body): string {
  const id = textField(
    body,
    "clientId",
    'Send a "clientId": a random id that stays the same when you repeat the request.',
  );
  if (!/^[A-Za-z0-9-]{8,64}$/.test(id))
    throw new HttpProblem(400, '"clientId" must be 8 to 64 letters, digits or hyphens.');
  return id;
}

function numberField(body: Body, name: string): number {
  const value = body[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new HttpProblem(400, `"${name}" must be a whole number.`);
  }
  return value;
}

function listOfText(value: unknown, name: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw new HttpProblem(400, `"${name}" must be a list of texts.`);
  }
  return value as readonly string[];
}
