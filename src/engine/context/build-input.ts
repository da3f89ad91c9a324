/**
 * Turns mail and unseen entries into the next user message (SPEC X1, I4, I5): what was said meanwhile (at most 50 entries, with an omitted count),
 * then the mail itself with address, speaker and id, then guidance. Pure; what it returns is stored and never rebuilt.
 */

import type { FileRef } from "../file-ref.ts";
import { isImage } from "../file-ref.ts";
import type { Mail } from "../mail.ts";
import type { ModelMessage } from "../model-message.ts";
import { type Entry, fileAddress } from "../transcript.ts";
import { type GroupPlace, groupReminder, timelineBlock } from "./group-input.ts";
import { PEER_ANSWER_NOTE, PEER_BROADCAST_NOTE, PEER_GUIDANCE, reminder, SEND_GUIDANCE } from "./reminders.ts";
import { untrustedName, untrustedText } from "./untrusted.ts";

/** Entries of context shown at once. */
export const CONTEXT_LIMIT = 50;

/** What the next user message is made of. */
export interface InputParts {
  /** Mail consumed now, in order. */
  readonly mail: readonly Mail[];
  /** Entries of that mail by id. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** Entries not shown yet that are not this mail, oldest first, already cut to CONTEXT_LIMIT. */
  readonly unseen: readonly Entry[];
  readonly omitted: number;
  /** The bot whose context this is; its own entries are marked. */
  readonly botId: string;
  readonly guidance: boolean;
  /** Set at a member's turn in a Group: then `unseen` is the timeline it answers to, at most GROUP_LIMIT entries. */
  readonly group?: GroupPlace;
  /** Who hears SendMessage here; teammate in a conversation between two bots. Default people. */
  readonly reader?: "people" | "teammate";
  /** What the host tells about things that changed since the cycle began: skills, connectors (SPEC X4). */
  readonly notes?: readonly string[];
}

/** The user message of a turn's beginning, or of mail that joins a running turn. */
export function buildInput(parts: InputParts): Extract<ModelMessage, { role: "user" }> {
  const { group } = parts;
  const blocks = [
    group ? timelineBlock(parts.unseen, parts.omitted, (entry) => entryLine(entry, parts.botId)) : contextBlock(parts),
    ...parts.mail.map((mail) => mailBlock(mail, parts)),
    ...(parts.notes ?? []).map(reminder),
    guidanceBlock(parts),
  ];
  const images = parts.mail.flatMap((mail) => filesOf(mail, parts).filter((file) => isImage(file) && !file.state));
  const text = blocks.filter(Boolean).join("\n\n");
  return images.length > 0 ? { role: "user", text, images } : { role: "user", text };
}

/** The host's words at the end: where a member of a Group stands, or how to be heard here. */
function guidanceBlock({ group, guidance, reader, botId }: InputParts): string {
  if (group) return reminder(groupReminder(group, botId, guidance));
  if (!guidance) return "";
  return reminder(reader === "teammate" ? PEER_GUIDANCE : SEND_GUIDANCE);
}

function contextBlock(parts: InputParts): string {
  if (parts.unseen.length === 0) return "";
  const omitted =
    parts.omitted > 0
      ? [`(${parts.omitted} earlier messages are not shown; search the transcript if you need them.)`]
      : [];
  const lines = parts.unseen.map((entry) => entryLine(entry, parts.botId));
  return [
    "<context_before>",
    "Said here before, for your information only; it is not addressed to you:",
    ...omitted,
    ...lines,
    "</context_before>",
  ].join("\n");
}

/** One entry as the model sees it. */
export function entryLine(entry: Entry, botId: string): string {
  const tag = entry.address ? `[${entry.address}] ` : "";
  const own = entry.botId === botId ? " (you)" : entry.kind === "peer" ? " (bot, your teammate)" : "";
  const speaker = `${untrustedName(entry.author.name)} (${entry.author.id})${own}`;
  const reply = entry.replyTo ? ` (in reply to ${entry.replyTo})` : "";
  return `${tag}${speaker}${reply}: ${entryText(entry)}`;
}

function entryText(entry: Entry): string {
  if (entry.redacted) return "(removed)";
  if (entry.mark?.kind === "deleted") return "(deleted by its author)";
  const text = untrustedText(entry.mark?.text ?? entry.text);
  return [text, ...entry.files.map((file, i) => fileLine(file, entry.address, i + 1))].filter(Boolean).join("\n");
}

function fileLine(file: FileRef, address: string | undefined, k: number): string {
  const tag = address ? `[${fileAddress(address, k)}] ` : "";
  const size = file.size > 0 ? `, ${Math.max(1, Math.round(file.size / 1024))} kB` : "";
  const state = file.state === "pending" ? ", still being fetched" : file.state === "failed" ? failureOf(file) : "";
  return `${tag}attached file: ${untrustedName(file.name)} (${untrustedName(file.mediaType)}${size}${state})`;
}

/** Why there is nothing to read, so that the bot can tell the person what would help. */
function failureOf({ problem }: FileRef): string {
  return problem === undefined ? ", could not be fetched" : `, could not be fetched: ${untrustedText(problem)}`;
}

/** Files of the message; in a Group only when the member has not seen it yet. */
function filesOf(mail: Mail, parts: InputParts): readonly FileRef[] {
  if (mail.body.type === "discussion" && !parts.unseen.some((entry) => entry.id === mail.entryId)) return [];
  return mail.entryId ? (parts.entries.get(mail.entryId)?.files ?? []) : [];
}

function mailBlock(mail: Mail, parts: InputParts): string {
  const entry = mail.entryId ? parts.entries.get(mail.entryId) : undefined;
  const { body } = mail;
  switch (body.type) {
    case "message":
      return entry
        ? [entryLine(entry, parts.botId), broadcastNote(body.broadcastTo), movedOnNote(body.movedOnFrom ?? [])]
            .filter(Boolean)
            .join("\n\n")
        : reminder("A message to you was removed before you read it.");
    case "discussion":
      return movedOnNote(body.movedOnFrom ?? []);
    case "answer":
      return `${speakerOf(mail, entry)}: ${JSON.stringify({
        widget_answer: {
          prompt: untrustedText(body.prompt),
          values: body.answer.values.map(untrustedText),
          ...(body.answer.custom === undefined ? {} : { custom: untrustedText(body.answer.custom) }),
          by: mail.authorId,
        },
      })}`;
    case "secret":
      return reminder(
        body.outcome === "stored"
          ? `The person has given the secret "${untrustedText(body.label)}". It is in the vault for connector ${untrustedName(body.connector)}, field ${untrustedName(body.field)}; you will not see its value.`
          : `The person declined to give the secret "${untrustedText(body.label)}". Go on without it or say what follows from that.`,
      );
    case "approved":
      return reminder(
        `${untrustedName(mail.authorName ?? "The person")} approved the call of ${untrustedName(body.call.name)} that was waiting. The host runs it now, exactly as it was shown; its result follows.`,
      );
    case "retry":
      return reminder(
        `${untrustedName(mail.authorName ?? "The person")} asked for another try at the message that has not been answered yet. Answer it now with SendMessage.`,
      );
    case "steering":
      return `${speakerOf(mail, entry)}: ${untrustedText(body.text)}`;
    case "peer":
      return peerBlock(body, entry, parts.botId);
    case "host":
      return reminder(untrustedText(body.text));
  }
}

function peerBlock(body: Extract<Mail["body"], { type: "peer" }>, entry: Entry | undefined, botId: string): string {
  if (body.direction === "report") return reminder(untrustedText(body.text ?? ""));
  if (!entry) return reminder("A teammate's message to you was removed before you read it.");
  const note =
    body.direction === "reply" ? reminder(PEER_ANSWER_NOTE) : body.isBroadcast ? reminder(PEER_BROADCAST_NOTE) : "";
  return [entryLine(entry, botId), note].filter(Boolean).join("\n\n");
}

/** SPEC A3: the bot with which the person wrote to everybody. */
function broadcastNote(others: readonly string[] | undefined): string {
  if (!others) return "";
  const names = others.map(untrustedName).join(", ");
  return reminder(
    `The person put this to all bots at once: ${names} have it too, so do not pass it on. Answer for yourself; what the others answer comes to you as messages of teammates.`,
  );
}

/** SPEC C4: the person wrote something else than an answer. Said once per question. */
function movedOnNote(prompts: readonly string[]): string {
  if (prompts.length === 0) return "";
  const asked = prompts.map((prompt) => JSON.stringify(untrustedText(prompt).slice(0, 200))).join(", ");
  return reminder(
    `The person wrote this instead of answering what you asked (${asked}). The question can still be answered; do not ask it again unless it matters.`,
  );
}

function speakerOf(mail: Mail, entry: Entry | undefined): string {
  const tag = entry?.address ? `[${entry.address}] ` : "";
  return `${tag}${untrustedName(mail.authorName ?? "someone")} (${mail.authorId ?? "unknown"})`;
}
