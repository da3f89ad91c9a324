/**
 * The bots of one team as each other know them (SPEC A1, A3): the directory in the prompt, who is meant by a target, and who comes near it. Pure;
 * names are compared without case, width or a leading "@".
 */

import type { Bot } from "../bot.ts";

/** Teammates shown in the prompt; more are found by search. */
export const DIRECTORY_LIMIT = 40;
/** Characters of a teammate's duties in the directory. */
const DUTIES_CHARS = 160;
const NEAREST = 5;

/** A bot as its teammates see it. */
export type Teammate = Pick<Bot, "id" | "name" | "role">;

/** Everybody but the bot itself, by name, for the prompt; "" when it is alone. */
export function directoryText(bots: readonly Teammate[], selfId: string): string {
  const others = byName(bots.filter((bot) => bot.id !== selfId));
  if (others.length === 0) return "";
  const more = others.length - DIRECTORY_LIMIT;
  return [
    ...others.slice(0, DIRECTORY_LIMIT).map(lineOf),
    ...(more > 0 ? [`(${more} more; search_teammates finds them.)`] : []),
  ].join("\n");
}

/** Teammates whose id, name or duties hold every word, best names first; without words all. At most DIRECTORY_LIMIT lines. */
export function searchTeammates(bots: readonly Teammate[], selfId: string, words: string): string {
  const wanted = fold(words).split(" ").filter(Boolean);
  const fits = (bot: Teammate) => wanted.every((word) => fold(`${bot.id} ${bot.name} ${bot.role}`).includes(word));
  const named = (bot: Teammate) => wanted.some((word) => fold(`${bot.id} ${bot.name}`).includes(word));
  const found = byName(bots.filter((bot) => bot.id !== selfId && fits(bot)));
  const sorted = [...found.filter(named), ...found.filter((bot) => !named(bot))];
  const rest = sorted.length - DIRECTORY_LIMIT;
  const tail = rest > 0 ? [`(${rest} more fit; use narrower words.)`] : [];
  return [...sorted.slice(0, DIRECTORY_LIMIT).map(lineOf), ...tail].join("\n");
}

/** The bot meant by an id or a name; a first name counts when nobody shares it. */
export function findTeammate(bots: readonly Teammate[], target: string): Teammate | undefined {
  const wanted = fold(target)
    .replace(/^[@＠]/, "")
    .trim();
  const only = (fits: (bot: Teammate) => boolean) => {
    const found = bots.filter(fits);
    return found.length === 1 ? found[0] : undefined;
  };
  return (
    bots.find((bot) => bot.id === wanted) ??
    only((bot) => fold(bot.name) === wanted) ??
    only((bot) => fold(bot.name).replaceAll(" ", "") === wanted) ??
    only((bot) => fold(bot.name).split(" ")[0] === wanted)
  );
}

/** Names that come near a target nobody has, nearest first. */
export function nearestTeammates(bots: readonly Teammate[], selfId: string, target: string): readonly string[] {
  const wanted = fold(target).replace(/^[@＠]/, "");
  const near = bots
    .filter((bot) => bot.id !== selfId)
    .map((bot) => ({ bot, distance: Math.min(distance(wanted, bot.id), distance(wanted, fold(bot.name))) }))
    .sort((a, b) => a.distance - b.distance || a.bot.id.localeCompare(b.bot.id, "en"));
  return near.slice(0, NEAREST).map(({ bot }) => `${bot.name} (${bot.id})`);
}

function byName(bots: readonly Teammate[]): readonly Teammate[] {
  return [...bots].sort((a, b) => a.name.localeCompare(b.name, "en") || a.id.localeCompare(b.id, "en"));
}

function lineOf(bot: Teammate): string {
  const duties = bot.role.replace(/\s+/g, " ").trim();
  const short = duties.length > DUTIES_CHARS ? `${duties.slice(0, DUTIES_CHARS - 1).trimEnd()}…` : duties;
  return `- ${bot.name} (${bot.id})${short ? `: ${short}` : ""}`;
}

function fold(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/\s+/gu, " ")
    .trim()
    .toLowerCase();
}

/** Edits between two short texts; long ones are cut, since names are short. */
function distance(left: string, right: string): number {
  const [a, b] = [[...left].slice(0, 60), [...right].slice(0, 60)];
  let row = Array.from({ length: b.length + 1 }, (_zero, i) => i);
  for (const [i, letter] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) {
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
