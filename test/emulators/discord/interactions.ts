/**
 * Interactions: a person presses, chooses, submits or commands; the application has 3 seconds for its first answer and
 * 15 minutes for more.
 * Invariant: an interaction gets one answer; it is delivered over the gateway only while the application has no
 * endpoint of its own.
 */
import type { Fields } from "../loopback.ts";
import { waitUntil } from "../loopback.ts";
import { messageJson } from "./message-json.ts";
import { fileLimit } from "./message-rules.ts";
import type { Bot, Channel, Interaction, OpenModal, StoredMessage, User } from "./model.ts";
import { permissionsIn } from "./permissions.ts";
import { tellBot } from "./sessions.ts";
import { channelJson, memberJson, userJson } from "./wire.ts";
import type { World } from "./world.ts";
import { newId, randomText } from "./world.ts";

/** What came of an interaction. */
export interface InteractionResult {
  /** False: the person read "This interaction failed". */
  readonly acked: boolean;
  /** From the press to the answer. */
  readonly ms: number;
  /** The answer's type: 4 reply, 5 later, 6 silent, 7 redraw, 9 modal; null without answer. */
  readonly type: number | null;
  readonly data: Fields;
  /** The private text shown to the person, or "". */
  readonly privately: string;
  readonly modal: OpenModal | null;
  readonly interaction: Interaction;
}

/** Who does what where. */
export interface Act {
  readonly bot: Bot;
  readonly person: User;
  readonly channel: Channel;
  readonly message: StoredMessage | null;
  /** 2 command, 3 component, 4 autocomplete, 5 modal. */
  readonly kind: number;
  readonly data: Fields;
}

/** Sends an interaction and waits until it is answered or has failed. */
export async function interact(world: World, act: Act): Promise<InteractionResult> {
  const interaction: Interaction = {
    id: newId(world),
    token: `aW50ZXJhY3Rpb246${randomText(120)}`,
    kind: act.kind,
    bot: act.bot,
    person: act.person,
    channel: act.channel,
    message: act.message,
    at: Date.now(),
    followups: [],
    response: null,
    original: null,
    deferred: null,
    failed: false,
  };
  world.interactions.set(interaction.token, interaction);
  if (act.bot.interactionsEndpointUrl === null) {
    const payload = payloadOf(world, interaction, act.data);
    tellBot(world, act.bot, { name: "INTERACTION_CREATE", intent: 0, guild: act.channel.guild, data: () => payload });
  }
  const answered = () => interaction.response !== null;
  await waitUntil(answered, "an answer", world.timing.interactionMs).catch(() => {
    // No answer in time: the person reads that it failed, which is this function's result.
    interaction.failed = interaction.response === null;
  });
  return resultOf(world, interaction);
}

function resultOf(world: World, interaction: Interaction): InteractionResult {
  const { response, original, at } = interaction;
  return {
    acked: response !== null,
    ms: (response?.at ?? Date.now()) - at,
    type: response?.type ?? null,
    data: response?.data ?? {},
    privately: original?.onlyFor ? String(original.body.content) : "",
    modal: world.modals.findLast((modal) => modal.interaction === interaction) ?? null,
    interaction,
  };
}

function payloadOf(world: World, interaction: Interaction, data: Fields): Fields {
  const { bot, channel, message } = interaction;
  const viewer = { bot, content: true, event: false };
  return {
    id: interaction.id,
    application_id: bot.applicationId,
    type: interaction.kind,
    token: interaction.token,
    version: 1,
    data,
    channel_id: channel.id,
    channel: channelJson(world, channel, bot),
    app_permissions: String(permissionsIn(channel, bot.user)),
    locale: "en-US",
    entitlements: [],
    authorizing_integration_owners: { 0: channel.guild?.id ?? "0" },
    context: channel.guild ? 0 : 1,
    attachment_size_limit: fileLimit(channel),
    ...(message ? { message: messageJson(world, message, viewer) } : {}),
    ...personFields(interaction),
  };
}

/** In a guild the person comes as a member, in direct messages as a user. */
function personFields({ person, channel }: Interaction): Fields {
  const { guild } = channel;
  const member = guild?.members.get(person.id);
  if (!guild || !member) return { user: userJson(person) };
  return {
    guild_id: guild.id,
    guild_locale: "en-US",
    guild: { id: guild.id, locale: "en-US", features: [] },
    member: { ...memberJson(member), user: userJson(person), permissions: String(permissionsIn(channel, person)) },
  };
}
