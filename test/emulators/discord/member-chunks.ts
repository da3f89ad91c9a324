/**
 * Op 8: members of a guild on request, in chunks of 1000.
 * Invariant: the whole list needs the members intent; a prefix search or known ids do not.
 */
import type { Fields } from "../loopback.ts";
import { asList, asText } from "../loopback.ts";
import type { Member } from "./model.ts";
import type { Session } from "./sessions.ts";
import { INTENTS, push } from "./sessions.ts";
import { memberJson, userJson } from "./wire.ts";
import type { World } from "./world.ts";

/** Answers a member request with GUILD_MEMBERS_CHUNK events. */
export function answerMemberRequest(world: World, session: Session, body: Fields): void {
  const guild = world.guilds.get(asText(body.guild_id));
  if (!guild?.members.has(session.bot.userId)) return;
  const ids = asList(typeof body.user_ids === "string" ? [body.user_ids] : body.user_ids).map(asText);
  const all = [...guild.members.values()];
  const found = ids.length > 0 ? all.filter((member) => ids.includes(member.user.id)) : search(session, all, body);
  const chunks = Math.max(1, Math.ceil(found.length / 1000));
  for (let index = 0; index < chunks; index += 1) {
    const members = found.slice(index * 1000, index * 1000 + 1000);
    push(world, session, "GUILD_MEMBERS_CHUNK", {
      guild_id: guild.id,
      members: members.map((member) => ({ ...memberJson(member), user: userJson(member.user) })),
      chunk_index: index,
      chunk_count: chunks,
      not_found: ids.filter((id) => !guild.members.has(id)),
      nonce: body.nonce,
    });
  }
}

function search(session: Session, all: readonly Member[], body: Fields): Member[] {
  const prefix = asText(body.query).toLowerCase();
  if (prefix === "" && !(session.intents & INTENTS.guildMembers)) return [];
  const limit = Number(body.limit ?? 0) || (prefix === "" ? all.length : 100);
  return all.filter((member) => member.user.username.startsWith(prefix)).slice(0, limit);
}
