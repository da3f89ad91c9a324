/** The rows of a card that Ada's turn ends with, as delivery would make them. */
import type { SecretRequest, Widget } from "../../../src/engine/card.ts";
import { type ConversationRef, conversationKey } from "../../../src/engine/conversation.ts";
import type { Claim } from "../../../src/engine/session.ts";
import type { NewDelivery } from "../../../src/engine/store/store.ts";
import { unique } from "../store/store-place.ts";
import type { Room } from "./routing-world.ts";

/** What a card asks. */
export type AskedFor = { widget: Widget } | { secret: SecretRequest } | { retry: true };

/** A turn of Ada's under way. */
export interface RunningTurn {
  readonly claim: Claim;
  readonly turnId: string;
  readonly ref: ConversationRef;
}

/** The delivery with its card, for the person named. */
export function cardDelivery(room: Room, asked: AskedFor, id: string, turn: RunningTurn, name: string): NewDelivery {
  const ada = room.bots.ada;
  return {
    entryId: unique("e"),
    conversationKey: conversationKey(turn.ref),
    botId: ada.botId,
    botName: "Ada",
    kind: "bubble",
    text: "card",
    body: {},
    files: [],
    personCount: 1,
    place: { installationId: ada.id, ref: turn.ref },
    nativeChannel: `test:${room.workspaceId}:x`,
    pieces: ["card"],
    card: {
      id,
      ...specOf(asked),
      allowed: [room.person(name).id],
      sessionId: turn.claim.sessionId,
      turnId: turn.turnId,
    },
  };
}

function specOf(asked: AskedFor): Pick<NonNullable<NewDelivery["card"]>, "kind" | "spec"> {
  if ("widget" in asked) return { kind: "widget", spec: { kind: "widget", widget: asked.widget } };
  if ("secret" in asked) return { kind: "secret", spec: { kind: "secret", secret: asked.secret } };
  const controls = [{ value: "retry", label: "Retry", style: "primary" as const }];
  return { kind: "retry", spec: { kind: "host", host: { kind: "retry", text: "It failed.", controls }, data: {} } };
}
