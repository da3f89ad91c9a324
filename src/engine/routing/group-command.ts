/**
 * `!group` (SPEC G1): who is in the Group, how it listens, what is going on; `!group on | off` makes a channel a Group or ends it, `!group all | mention`
 * changes how it listens. Anybody whom access admits may use it; each is done once, whichever copy of the message comes first.
 */

import { audienceOf, type ChannelSettings, type ConversationRef, channelRowId } from "../conversation.ts";
import type { Discussion } from "../discussion.ts";
import { afterStop } from "../group/discussion.ts";
import { listOf, moveTo } from "../group/discussion-mail.ts";
import { type Group, groupCard } from "../group/group-settings.ts";
import { repeated } from "../group/repeated.ts";
import type { Reception } from "../inbound-event.ts";
import { addressingOf, findAddressed } from "./addressing.ts";
import type { GroupChoice } from "./commands.ts";
import { channelFacts, ignoredIntake } from "./message.ts";
import type { MessageCase } from "./message-case.ts";
import type { RouterParts } from "./router-parts.ts";

/** Runs the command and answers in the conversation. */
export async function groupCommand(
  parts: RouterParts,
  item: MessageCase,
  choice: GroupChoice | undefined,
): Promise<Reception> {
  const { installations, hostCards, membership, settings } = parts;
  const channelSettings = choice ? { ...settingsFor(choice), ...askedFor(parts, item, choice) } : {};
  const result = await parts.store.takeIn({
    ...ignoredIntake(parts, item),
    outcome: "stored",
    ...channelFacts(parts, item, audienceOf(item.ref, item.event.from.id)),
    ...(choice && item.ref.kind !== "direct" ? { channelSettings } : {}),
  });
  // Also for a copy: the process that took the command in may have died before it ended anything.
  if (choice === "off") await endDiscussions(parts, item.ref);
  if (result.status === "duplicate") return { status: "duplicate" };
  const joined = item.bots.map((bot) => bot.botId);
  const now = item.view.channel && {
    ...item.view.channel,
    settings: { ...item.view.channel.settings, ...channelSettings },
  };
  const present = [...(now?.members ?? []), ...joined].filter(
    (id, at, all) => joined.includes(id) && all.indexOf(id) === at,
  );
  const group = item.ref.kind === "direct" ? undefined : membership.groupOf(item.ref, present, now);
  const speaker = installations.inOrder(group?.members ?? [item.installation.botId])[0] ?? item.installation.botId;
  if (!group) await hostCards.groupAnswer(item, speaker, whyNoGroup(item, joined.length));
  else {
    const names = installations.inOrder(group.members).map(installations.botName);
    const card = groupCard(names, group, settings.groups.maxMembers);
    const text = [card.text, stateText(item.view.discussion, group)].join("\n");
    await hostCards.groupAnswer(item, speaker, text, { ...card, text });
  }
  if (choice) membership.touch(item.ref);
  return { status: "accepted" };
}

/** What is going on in a channel that is no Group any more ends, in all its threads; who is at work may say nothing more (SPEC G1). */
async function endDiscussions({ store, membership }: RouterParts, ref: ConversationRef): Promise<void> {
  if (ref.kind === "direct" || (await membership.groupNow(ref))) return;
  await repeated(async () => {
    for (const discussion of await store.openDiscussions(channelRowId(ref))) {
      await store.stepDiscussion({ move: moveTo(discussion, afterStop(discussion.state)), wake: [], hostCards: [] });
    }
  });
}

function settingsFor(choice: GroupChoice): ChannelSettings {
  if (choice === "on" || choice === "off") return { group: choice === "on" };
  return { activation: choice };
}

/** Where every bot sees every channel, those the command is said to are in the Group before others. */
function askedFor(parts: RouterParts, item: MessageCase, choice: GroupChoice): ChannelSettings {
  if (choice !== "on" || !parts.membership.isOnRequest(item.ref.platform)) return {};
  const { named } = findAddressed(addressingOf(parts, item));
  return named.length > 0 ? { asked: named } : {};
}

function whyNoGroup(item: MessageCase, bots: number): string {
  if (item.ref.kind === "direct")
    return "A direct message is between you and one bot. Groups are channels with two or more bots.";
  if (bots < 2) return "This is not a Group: a Group needs two or more bots in the channel. Invite another one.";
  return "This is not a Group: the bots here answer only when they are mentioned. `!group on` makes it one.";
}

function stateText(discussion: Discussion | undefined, group: Group): string {
  const listens =
    group.activation === "all"
      ? "The Group answers every message."
      : "The Group answers only when one of them is mentioned.";
  if (!discussion) return `${listens} No discussion is going on here.`;
  const { state, frame } = discussion;
  const nameOf = (id: string) => frame.roster.find((member) => member.botId === id)?.name ?? id;
  const next = state.order.length > 0 ? `, then ${listOf(state.order.map(nameOf))}` : "";
  const speaking = state.current ? ` It is the turn of ${nameOf(state.current)}${next}.` : "";
  const said = `${state.total} ${state.total === 1 ? "message" : "messages"} so far`;
  return `${listens} A discussion is going on: round ${state.round}, ${said}.${speaking}`;
}
