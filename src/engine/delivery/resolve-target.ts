/**
 * Where a bubble goes (SPEC M3): this conversation, or another one named by `channel`, in which both the bot and the person served must be members.
 */

import type { Adapter, Place } from "../adapter.ts";
import type { Bot } from "../bot.ts";
import type { Bubble } from "../bubble.ts";
import type { Authority } from "../session.ts";
import type { Store } from "../store/store.ts";

/** Who speaks, from where, and for whom. */
export interface TargetSpeaker {
  readonly bot: Bot;
  readonly adapter: Adapter;
  readonly place: Place;
  readonly conversationKey: string;
  readonly authority: Authority;
}

/** The place a bubble goes to, or why it may not; `text` is for the model. */
export type ResolvedTarget =
  | { readonly ok: true; readonly conversationKey: string; readonly place: Place; readonly elsewhere: boolean }
  | { readonly ok: false; readonly text: string };

/** Resolves `channel`; failure texts are for the model. */
export async function resolveTarget(store: Store, speaker: TargetSpeaker, bubble: Bubble): Promise<ResolvedTarget> {
  if (!bubble.channel) {
    return { ok: true, conversationKey: speaker.conversationKey, place: speaker.place, elsewhere: false };
  }
  const { platform, workspaceId } = speaker.place.ref;
  const found = await store.findTargets({ botId: speaker.bot.id, platform, workspaceId, text: bubble.channel });
  const [target, second] = found;
  const name = JSON.stringify(bubble.channel);
  if (!target) {
    return refusedTarget(
      `channel ${name} is not a conversation you are in. Leave channel out to answer here, or ask to be invited there.`,
    );
  }
  if (second)
    return refusedTarget(`channel ${name} fits several conversations. Use the channel's id instead of its name.`);
  const allowed = target.personId
    ? speaker.authority.personIds.includes(target.personId)
    : await isMember(speaker, target.ref.channelId);
  if (!allowed) {
    return refusedTarget(
      `The person you are serving is not a member of ${name}, so nothing may be posted there on their behalf.`,
    );
  }
  const place: Place = { installationId: speaker.place.installationId, ref: target.ref };
  return {
    ok: true,
    conversationKey: target.conversationKey,
    place,
    elsewhere: target.conversationKey !== speaker.conversationKey,
  };
}

async function isMember(speaker: TargetSpeaker, channelId: string): Promise<boolean> {
  // A platform that does not answer counts as "not a member": nothing is posted on a guess.
  const members = await speaker.adapter
    .members(speaker.place.installationId, channelId)
    .catch((): readonly string[] => []);
  const served = speaker.authority.personIds.map((id) => id.split(":").slice(2).join(":"));
  return served.length > 0 && served.every((id) => members.includes(id));
}

function refusedTarget(text: string): ResolvedTarget {
  return { ok: false, text };
}
