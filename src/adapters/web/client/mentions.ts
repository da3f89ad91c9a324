/** What "@" offers. Pure: the text before the caret decides. */

import type { WireChannel } from "../wire.ts";
import type { Model } from "./model.ts";

/** Somebody who can be named. */
export interface Mentionable {
  readonly id: string;
  readonly name: string;
  readonly bot: boolean;
}

const MAX_OFFERS = 6;

/** The "@…" the caret stands in, if any. */
export function mentionAt(text: string, caret: number): { readonly start: number; readonly query: string } | undefined {
  const match = /(?:^|[\s(])@([\p{L}\p{N}_-]{0,20})$/u.exec(text.slice(0, caret));
  if (!match) return undefined;
  const query = match[1] ?? "";
  return { start: caret - query.length - 1, query };
}

/** Bots of the channel first, then people, by the letters typed. */
export function mentionables(model: Model, channel: WireChannel, query: string): readonly Mentionable[] {
  const bots = model.bots
    .filter((bot) => channel.bots.includes(bot.id))
    .map((bot): Mentionable => ({ id: bot.id, name: bot.name, bot: true }));
  const people = model.people
    .filter((person) => person.id !== model.me?.id)
    .map((person): Mentionable => ({ id: person.id, name: person.name, bot: false }));
  const typed = query.toLocaleLowerCase();
  const all = bots.length > 1 ? [{ id: "everyone", name: "everyone", bot: true }] : [];
  const fitting = [...bots, ...all, ...people].filter((one) => one.name.toLocaleLowerCase().startsWith(typed));
  return fitting.slice(0, MAX_OFFERS);
}
