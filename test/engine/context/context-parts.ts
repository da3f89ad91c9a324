/** Entries, mail and input for tests of what a model reads. */
import { buildInput, type InputParts } from "../../../src/engine/context/build-input.ts";
import type { Mail, MailBody } from "../../../src/engine/mail.ts";
import type { Entry } from "../../../src/engine/transcript.ts";

/** An entry of Ann's; `n` numbers it. */
export function entryOf(n: number, more: Partial<Entry> = {}): Entry {
  return {
    id: `ent_${n}`,
    conversationKey: "slack:T1:C1",
    seq: n,
    address: `t${n}u`,
    platformId: `100.${n}`,
    at: new Date(1_700_000_000_000 + n * 1000),
    author: { kind: "person", id: "slack:T1:U1", name: "Ann" },
    kind: "message",
    text: `message ${n}`,
    files: [],
    ...more,
  };
}

/** Mail of Ann's about the entry with the same number. */
export function mailOf(n: number, body: Partial<MailBody> = {}, more: Partial<Mail> = {}): Mail {
  return {
    id: `mail_${n}`,
    sessionId: "ses_1",
    kind: "person",
    entryId: `ent_${n}`,
    authorId: "slack:T1:U1",
    authorName: "Ann",
    route: "slack:T1:C1|ins_1",
    body: { type: "message", role: "member", ...body } as MailBody,
    audience: "channel(slack:T1:C1)",
    hops: 0,
    orderAt: new Date(1_700_000_000_000 + n * 1000),
    ...more,
  };
}

/** The user message of these pieces, without guidance unless asked for. */
export function inputOf(mail: readonly Mail[], entries: readonly Entry[], more: Partial<InputParts> = {}) {
  return buildInput({
    mail,
    entries: new Map(entries.map((entry) => [entry.id, entry])),
    unseen: [],
    omitted: 0,
    botId: "ada",
    guidance: false,
    ...more,
  });
}
