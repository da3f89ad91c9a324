/** Messages and bots for tests of who is meant. Mentions are written in the text as "<@id|Name>" and taken out, as adapters do. */
import type { BotHandle } from "../../../src/engine/bot.ts";
import type { Mention } from "../../../src/engine/inbound-event.ts";
import type { PersonRef } from "../../../src/engine/person.ts";
import { type AddressingInput, addressedBots } from "../../../src/engine/routing/addressing.ts";

export const ada: BotHandle = { botId: "ada", name: "Ada", platformIds: ["U_ADA", "B_ADA"] };
export const bo: BotHandle = { botId: "bo", name: "Bo Diddley", platformIds: ["U_BO"] };
export const ann: PersonRef = { id: "slack:T1:U_ANN", platformId: "U_ANN", name: "Ann", kind: "member" };

/** Text and mentions of what was written; "<@G_TEAM:U_ADA,U_BO|team>" is a group with members. */
export function written(source: string): { readonly text: string; readonly mentions: readonly Mention[] } {
  const mentions: Mention[] = [];
  let text = "";
  let at = 0;
  for (const match of source.matchAll(/<@([\w-]+)(?::([\w,]*))?\|([^>]+)>/g)) {
    text += source.slice(at, match.index);
    const start = text.length;
    text += `@${match[3]}`;
    const members = match[2] === undefined ? {} : { members: match[2].split(",") };
    mentions.push({ platformId: match[1] ?? "", start, end: text.length, ...members });
    at = match.index + match[0].length;
  }
  return { text: text + source.slice(at), mentions };
}

/** Who wakes for a message in a channel where Ada listens alone, unless more is said. */
export function whoWakes(
  source: string,
  more: Partial<Omit<AddressingInput, "event">> & { readonly event?: object } = {},
): readonly string[] {
  const { event, ...rest } = more;
  return addressedBots({
    event: { ...written(source), quoted: [], everyone: false, namesBot: false, from: ann, ...event },
    direct: false,
    inThread: false,
    receiver: ada,
    bots: [ada],
    takingPart: [],
    threads: "sticky",
    ...rest,
  });
}
