/**
 * Interaction callbacks and the webhooks of interactions. Their tokens are in the path, so no bot token is needed.
 */
import type { Fields } from "../../loopback.ts";
import { asFields } from "../../loopback.ts";
import type { Answer, Call, Routes } from "../call.ts";
import { idAt } from "../call.ts";
import { answerInteraction, followUp, redraw, resolveDeferred } from "../interaction-answers.ts";
import { messageJson } from "../message-json.ts";
import { deleteMessage, FLAGS } from "../messages.ts";
import type { Interaction, StoredMessage } from "../model.ts";
import { refuse, refuseField } from "../refusal.ts";

/** The interaction routes. */
export const INTERACTION_ROUTES: Routes = {
  "POST /interactions/:id/:token/callback": { auth: "none", run: callback },
  "POST /webhooks/:id/:token": {
    auth: "none",
    run: (call) => {
      const interaction = interactionOf(call);
      return shown(call, interaction, followUp(call.world, interaction, call.body, call.files));
    },
  },
  "GET /webhooks/:id/:token/messages/@original": { auth: "none", run: (call) => read(call, "@original") },
  "PATCH /webhooks/:id/:token/messages/@original": { auth: "none", run: (call) => change(call, "@original") },
  "DELETE /webhooks/:id/:token/messages/@original": { auth: "none", run: (call) => remove(call, "@original") },
  "GET /webhooks/:id/:token/messages/:id": { auth: "none", run: (call) => read(call, idAt(call, 2)) },
  "PATCH /webhooks/:id/:token/messages/:id": { auth: "none", run: (call) => change(call, idAt(call, 2)) },
  "DELETE /webhooks/:id/:token/messages/:id": { auth: "none", run: (call) => remove(call, idAt(call, 2)) },
};

function callback(call: Call): Answer {
  const { world, body, files, query } = call;
  const interaction = world.interactions.get(idAt(call, 1));
  if (!interaction || interaction.id !== idAt(call, 0)) return refuse(404, 10062, "Unknown interaction");
  if (!Number.isInteger(body.type)) refuseField("type", "BASE_TYPE_REQUIRED", "This field is required");
  const type = Number(body.type);
  const made = answerInteraction(world, interaction, { type, data: asFields(body.data), files });
  if (query.get("with_response") !== "true") return {};
  return { json: callbackJson(call, interaction, type, made) };
}

function callbackJson(call: Call, interaction: Interaction, type: number, made: StoredMessage | null): Fields {
  const isEphemeral = ((made?.body.flags ?? 0) & FLAGS.ephemeral) !== 0;
  const about = made
    ? {
        response_message_id: made.body.id,
        response_message_loading: type === 5,
        response_message_ephemeral: isEphemeral,
      }
    : {};
  return {
    interaction: { id: interaction.id, type: interaction.kind, ...about },
    ...(made ? { resource: { type, message: view(call, interaction, made) } } : {}),
  };
}

function view(call: Call, { bot }: Interaction, message: StoredMessage): Fields {
  return messageJson(call.world, message, { bot, content: true, event: false });
}

function shown(call: Call, interaction: Interaction, message: StoredMessage): Answer {
  return { json: view(call, interaction, message) };
}

/** The answered interaction of this webhook: unknown 10015, after 15 minutes 50027. */
function interactionOf(call: Call): Interaction {
  const interaction = call.world.interactions.get(idAt(call, 1));
  if (!interaction?.response || interaction.bot.applicationId !== idAt(call, 0))
    return refuse(404, 10015, "Unknown Webhook");
  if (Date.now() - interaction.at > call.world.timing.followupMs) refuse(401, 50027, "Invalid Webhook Token");
  return interaction;
}

function messageOf(interaction: Interaction, which: string): StoredMessage {
  const all = [...interaction.followups, ...(interaction.original ? [interaction.original] : [])];
  const found = which === "@original" ? interaction.original : all.find((message) => message.body.id === which);
  return !found || found.deleted ? refuse(404, 10008, "Unknown Message") : found;
}

function read(call: Call, which: string): Answer {
  const interaction = interactionOf(call);
  return shown(call, interaction, messageOf(interaction, which));
}

function change(call: Call, which: string): Answer {
  const interaction = interactionOf(call);
  const message = messageOf(interaction, which);
  const waits = interaction.deferred !== null && message === interaction.original;
  const { world, body, files } = call;
  if (waits) return shown(call, interaction, resolveDeferred(world, interaction, body, files));
  return shown(call, interaction, redraw(world, message, body, files));
}

function remove(call: Call, which: string): Answer {
  deleteMessage(call.world, messageOf(interactionOf(call), which));
  return {};
}
