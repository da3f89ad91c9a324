/**
 * The name and picture of a bot that shares its app with others (SPEC I1, `personas`). Slack shows them on posts and private notices only: edits keep
 * what the post had, and file shares appear as the app.
 * Invariant: a message is not lost for its decoration: where the app may not use other names, it is posted once without.
 */

import type { Persona } from "../../engine/index.ts";
import type { SlackBot } from "./bot.ts";
import { problemOf } from "./errors.ts";

const NAME_CHARS = 80;
/** Slack's refusals of the name, none of which leaves a message behind. */
const REFUSED = new Set(["missing_scope", "reserved_username", "invalid_username", "not_allowed_token_type"]);

/** Posts with the bot's persona, if it has one, and once without when Slack does not let it have that name. */
export async function asPersona<T>(bot: SlackBot, post: (override: object) => Promise<T>): Promise<T> {
  if (bot.persona === undefined) return post({});
  try {
    return await post(overrideOf(bot.persona));
  } catch (error) {
    const { code } = problemOf(error);
    if (!REFUSED.has(code)) throw error;
    bot.log.warn({ code }, "slack does not let the app post under this name; posting as the app");
    return post({});
  }
}

/** The fields of a post that carry name and picture. */
export function overrideOf(persona: Persona): {
  readonly username: string;
  readonly icon_url?: string;
  readonly icon_emoji?: string;
} {
  const username = persona.name.slice(0, NAME_CHARS);
  const { icon } = persona;
  if (icon === undefined) return { username };
  if (/^:[a-z0-9_+'-]+:$/.test(icon)) return { username, icon_emoji: icon };
  return icon.startsWith("https://") ? { username, icon_url: icon } : { username };
}
