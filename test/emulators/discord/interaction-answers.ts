/**
 * What applications answer to interactions: the first answer, follow-ups, and changes of both.
 * Invariant: the first answer comes within 3 seconds and once (10062, 40060); texts without allowed_mentions ping named
 * users only; an ephemeral answer is seen by one person.
 */
import type { Fields } from "../loopback.ts";
import { asList } from "../loopback.ts";
import { ANSWER_FLAGS, checkMessageForm, checkNotEmpty, EDIT_FLAGS } from "./message-rules.ts";
import { createMessage, editMessage, FLAGS, filesOf } from "./messages.ts";
import { checkModalForm } from "./modal-rules.ts";
import type { Interaction, SentFile, StoredMessage } from "./model.ts";
import { refuse, refuseField } from "./refusal.ts";
import { referenceTo } from "./sending.ts";
import { userJson } from "./wire.ts";
import type { World } from "./world.ts";

/** Without allowed_mentions, answers to interactions ping named users only. */
const ANSWER_MENTIONS: Fields = { parse: ["users"] };
const MAX_AUTOCOMPLETE = 25;

/** Answer types that fit each kind of interaction: command, component, autocomplete, modal. */
const FITTING: Readonly<Record<number, readonly number[]>> = {
  2: [4, 5, 9, 12],
  3: [4, 5, 6, 7, 9, 12],
  4: [8],
  5: [4, 5, 6, 7, 12],
};

/** Takes the first answer; returns the message it made, if any. */
export function answerInteraction(
  world: World,
  interaction: Interaction,
  answer: { type: number; data: Fields; files: readonly SentFile[] },
): StoredMessage | null {
  const { type, data, files } = answer;
  if (interaction.failed || Date.now() - interaction.at > world.timing.interactionMs)
    refuse(404, 10062, "Unknown interaction");
  if (interaction.response) refuse(400, 40060, "Interaction has already been acknowledged.");
  const fitting = FITTING[interaction.kind] ?? [];
  const onMessage = interaction.message !== null || (type !== 6 && type !== 7);
  if (!fitting.includes(type) || !onMessage)
    refuseField("type", "BASE_TYPE_CHOICES", `Value must be one of {${fitting.join(", ")}}.`);
  const made = perform(world, interaction, type, data, files);
  interaction.response = { type, data, at: Date.now() };
  return made;
}

function perform(
  world: World,
  interaction: Interaction,
  type: number,
  data: Fields,
  files: readonly SentFile[],
): StoredMessage | null {
  switch (type) {
    case 4:
      interaction.original = say(world, interaction, data, files);
      return interaction.original;
    case 5:
      interaction.deferred = { flags: Number(data.flags ?? 0) & FLAGS.ephemeral };
      interaction.original = placeholder(world, interaction);
      return interaction.original;
    case 6:
      interaction.original = interaction.message;
      return null;
    case 7:
      interaction.original = interaction.message;
      return interaction.message ? redraw(world, interaction.message, data, files) : null;
    case 8:
      if (asList(data.choices).length > MAX_AUTOCOMPLETE)
        refuseField("data.choices", "BASE_TYPE_BAD_LENGTH", "Must be 25 or fewer in length.");
      return null;
    case 9:
      checkModalForm(data);
      world.modals.push({ interaction, person: interaction.person, data, open: true });
      return null;
    default:
      return null;
  }
}

/** A new message of an interaction, shown to all or, when ephemeral, to one. */
function say(world: World, interaction: Interaction, data: Fields, files: readonly SentFile[]): StoredMessage {
  checkMessageForm(data, { channel: interaction.channel, files, flags: ANSWER_FLAGS });
  checkNotEmpty(data, files);
  return build(world, interaction, data, files);
}

function build(world: World, interaction: Interaction, data: Fields, files: readonly SentFile[]): StoredMessage {
  const { bot, channel, person, message } = interaction;
  const isEphemeral = (Number(data.flags ?? 0) & FLAGS.ephemeral) !== 0;
  return createMessage(world, {
    channel,
    author: bot.user,
    bot,
    body: data,
    files: filesOf(data, files),
    fallback: ANSWER_MENTIONS,
    onlyFor: isEphemeral ? person : null,
    type: interaction.kind === 2 ? 20 : message ? 19 : 0,
    target: message,
    extra: {
      webhook_id: bot.applicationId,
      interaction_metadata: {
        id: interaction.id,
        type: interaction.kind,
        user: userJson(person),
        authorizing_integration_owners: { 0: channel.guild?.id ?? "0" },
        ...(message ? { interacted_message_id: message.body.id } : {}),
      },
      ...(message && interaction.kind !== 2 ? { message_reference: referenceTo(message) } : {}),
    },
  });
}

/** "Bot is thinking…" */
function placeholder(world: World, interaction: Interaction): StoredMessage {
  return build(world, interaction, { flags: FLAGS.loading | (interaction.deferred?.flags ?? 0) }, []);
}

/** Changes a message through an interaction. */
export function redraw(world: World, message: StoredMessage, data: Fields, files: readonly SentFile[]): StoredMessage {
  checkMessageForm(data, { channel: message.channel, files, editing: message, flags: EDIT_FLAGS });
  const after = {
    content: message.body.content,
    embeds: message.body.embeds,
    components: message.body.components,
    ...data,
  };
  const kept = data.attachments === undefined ? message.body.attachments : asList(data.attachments);
  checkNotEmpty({ ...after, embeds: [...asList(after.embeds), ...kept] }, files);
  return editMessage(world, message, data, filesOf(data, files), ANSWER_MENTIONS);
}

/** A follow-up; the first one after "thinking…" takes its place. */
export function followUp(
  world: World,
  interaction: Interaction,
  data: Fields,
  files: readonly SentFile[],
): StoredMessage {
  if (interaction.deferred) return resolveDeferred(world, interaction, data, files);
  const message = say(world, interaction, data, files);
  interaction.followups.push(message);
  return message;
}

/** Fills "thinking…" with its message; whether it is ephemeral was decided when deferring. */
export function resolveDeferred(
  world: World,
  interaction: Interaction,
  data: Fields,
  files: readonly SentFile[],
): StoredMessage {
  const { original, deferred } = interaction;
  if (!original || !deferred) return refuse(404, 10008, "Unknown Message");
  checkMessageForm(data, { channel: interaction.channel, files, flags: ANSWER_FLAGS });
  checkNotEmpty(data, files);
  original.body.flags &= ~FLAGS.loading;
  interaction.deferred = null;
  const flags = Number(data.flags ?? 0) | deferred.flags;
  original.body.flags |= flags & ~(FLAGS.componentsV2 | FLAGS.suppressEmbeds);
  return editMessage(world, original, { ...data, flags }, filesOf(data, files), ANSWER_MENTIONS);
}
