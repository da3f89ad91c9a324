/**
 * A person's message in a Group (SPEC G2, G7, G12): selects the speakers with pure rules, then one operation takes in the message, begins or moves the
 * discussion and leaves the first speaker's mail. When somebody moved the discussion meanwhile it is read and decided again.
 */

import type { Installation } from "../bot.ts";
import { audienceOf, channelRowId } from "../conversation.ts";
import type { DiscussionFrame, DiscussionMove, GroupMember } from "../discussion.ts";
import { afterPerson, beginDiscussion } from "../group/discussion.ts";
import { moveTo, wakeCurrent } from "../group/discussion-mail.ts";
import type { Group } from "../group/group-settings.ts";
import { type Speakers, selectSpeakers } from "../group/speakers.ts";
import { newId } from "../ids.ts";
import type { Wake } from "../store/store.ts";
import { addressingOf, findAddressed } from "./addressing.ts";
import type { Installations } from "./installations.ts";
import type { MessageCase } from "./message-case.ts";
import { nativeReplyTo } from "./message-case.ts";
import type { RouterParts } from "./router-parts.ts";

/** What a message in a Group sets off. */
export interface GroupDecision {
  readonly selected: readonly string[];
  /** Bots that were named but take no part. */
  readonly beyond: readonly string[];
  readonly move?: DiscussionMove;
  readonly wake: readonly Wake[];
}

/** The Group of this place; `asked` are the two or more bots by whose naming this very message makes it one (SPEC G1). */
export function groupHere(
  parts: RouterParts,
  item: MessageCase,
): { readonly group: Group; readonly asked?: readonly string[] } | undefined {
  const { ref, view, installation } = item;
  // A copy that came late for one bot joins the discussion that is going on, or wakes that bot alone.
  if (ref.kind === "direct" || (item.onlyBot && !view.discussion)) return undefined;
  const present = parts.installations.withPersonas(
    [...(view.channel?.members ?? []), installation.botId],
    installation,
  );
  const joined = [...new Set(present)].filter((botId) => item.bots.some((bot) => bot.botId === botId));
  const group = parts.membership.groupOf(ref, joined, view.channel);
  if (group) return { group };
  if (!parts.membership.isOnRequest(ref.platform) || view.channel?.settings.group === false) return undefined;
  const { named } = findAddressed(addressingOf(parts, item));
  if (named.length < 2) return undefined;
  const channel = view.channel && {
    ...view.channel,
    settings: { ...view.channel.settings, group: true, asked: named },
  };
  const wanted = channel && parts.membership.groupOf(ref, joined, channel);
  return wanted && { group: wanted, asked: named };
}

/** Who speaks on this message, and how that moves the discussion here. */
export function decideInGroup(parts: RouterParts, item: MessageCase, group: Group): GroupDecision {
  const members = parts.installations.inOrder(group.members);
  const found = findAddressed(addressingOf(parts, item));
  const { onlyBot } = item;
  const speakers = onlyBot ? lateSpeaker(members, onlyBot) : selectSpeakers(members, group.activation, found);
  const beyond = found.named.filter((id) => group.beyond.includes(id));
  if (speakers.selected.length === 0) return { selected: [], beyond, wake: [] };
  const move = moveFor(parts, item, members, speakers);
  const current = move.state.current;
  const wake = wakeCurrent(move, parts.clock.now()).map((one) => withMovedOn(item, one));
  return { selected: speakers.selected, beyond, move, wake: current === null ? [] : wake };
}

/** A copy that came late for a bot nobody knew to be here: it alone is added. */
function lateSpeaker(members: readonly string[], botId: string): Speakers {
  const selected = members.filter((id) => id === botId);
  return { selected, named: selected };
}

function moveFor(
  parts: RouterParts,
  item: MessageCase,
  members: readonly string[],
  speakers: Speakers,
): DiscussionMove {
  const { view, ref, key, event } = item;
  const frame = frameFor(parts, item, members);
  const running = view.discussion;
  if (!running) {
    const state = beginDiscussion(speakers, frame.roster);
    const channelId = channelRowId(ref);
    return {
      ...{ id: newId("dis"), channelId, threadKey: key, revision: 0, state, frame },
      ...{ restartsWait: true, cancelsMail: false },
    };
  }
  const samePerson = !item.onlyBot && running.frame.persons.at(-1)?.id === event.from.id;
  const atWork = view.sessions.filter((session) => session.discussionId === running.id).map(({ botId }) => botId);
  const words = { speakers, samePerson, running: atWork };
  const state = afterPerson(running.state, words, parts.settings.groups, frame.roster);
  return moveTo(running, state, { frame, restartsWait: true, cancelsMail: true });
}

function frameFor(parts: RouterParts, item: MessageCase, members: readonly string[]): DiscussionFrame {
  const { event, ref, role, view, installation } = item;
  const { id, name } = event.from;
  const before = (view.discussion?.frame.persons ?? []).filter((person) => person.id !== id);
  return {
    roster: rosterAmong(parts.installations, members, installation),
    persons: [...before, { id, name, role }],
    audience: audienceOf(ref),
    ref,
    nativeReplyTo: nativeReplyTo(item),
  };
}

/** These members (configured order) with their own accounts in a platform workspace. */
export function rosterAmong(
  installations: Installations,
  members: readonly string[],
  beside: Pick<Installation, "platform" | "workspaceId">,
): readonly GroupMember[] {
  return members.flatMap((botId) => {
    const own = installations.ofBot(botId, beside);
    return own ? [{ botId, name: installations.botName(botId), installationId: own.id }] : [];
  });
}

/** Questions of the member that the person passed over (SPEC C4). */
function withMovedOn(item: MessageCase, wake: Wake): Wake {
  const { mail } = wake;
  if (mail?.body.type !== "discussion") return wake;
  const prompts = item.view.openCards
    .filter((card) => card.botId === wake.botId && !card.skipped && card.allowed.includes(item.event.from.id))
    .flatMap(({ spec }) =>
      spec.kind === "widget" ? [spec.widget.prompt] : spec.kind === "secret" ? [spec.secret.label] : [],
    );
  return prompts.length > 0 ? { ...wake, mail: { ...mail, body: { ...mail.body, movedOnFrom: prompts } } } : wake;
}
