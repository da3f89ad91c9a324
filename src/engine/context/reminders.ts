/**
 * What the host tells a bot out of band: guidance on SendMessage at the end of each user turn (SPEC M10) and reminders between steps (M11, M12).
 * Always user role, always inside <system_reminder>, never in the system prompt. Texts only; when they are due is decided in turn/nudges.
 */

export type ReminderKind =
  | "acknowledge"
  | "early-result"
  | "long-silence"
  | "unanswered"
  | "unfinished"
  | "untold"
  | "forced";

/** Wraps host text so that later scans recognise it and people cannot imitate it (their tags are defused). */
export function reminder(text: string): string {
  return `<system_reminder>\n${text}\n</system_reminder>`;
}

/** True for a user message that holds only host text. */
export function isReminder(text: string): boolean {
  return /^<system_reminder>\n[\s\S]*\n<\/system_reminder>$/.test(text.trim());
}

/** Guidance on the only voice. One text for all turns, so that it never breaks a cached prefix. */
export const SEND_GUIDANCE = [
  "Nobody sees your plain text: it is private thinking. People see only what you send with the SendMessage tool, one call for one message.",
  "- Answer the person with SendMessage before you end your turn. If the work takes several steps, first say briefly what you are going to do, then work, then send the result, then stop.",
  "- A result of `delivered` means the person has it. Do not send the same thing again, and do not announce that you have sent it.",
  "- Send files and pictures as attachment or images, never pasted as text. Ask with a widget when a few clear choices exist; ask for passwords and keys only with secret-request.",
  "- After a widget or secret-request your turn is over; the answer wakes you.",
  "- When everything needed has been sent, end your turn without further text.",
].join("\n");

/** Guidance for a member of a Group that may also pass (SPEC G2). */
export const GROUP_GUIDANCE = [
  "Nobody sees your plain text: it is private thinking. The others see only what you send with the SendMessage tool, one call for one message.",
  "- A result of `delivered` means everybody has it. Do not send the same thing again, do not repeat what a teammate said, and do not announce that you pass.",
  "- Send files and pictures as attachment or images. After a widget or secret-request your turn is over; the answer wakes you.",
  "- When you have said your part, end your turn without further text; the next teammate follows.",
].join("\n");

/** Guidance in a conversation between two bots. Silence is allowed there. */
export const PEER_GUIDANCE = [
  "Nobody sees your plain text: it is private thinking. Your teammate gets only what you send with SendMessage.",
  "- Do the work, then send the result in one message, complete in itself: your teammate does not see how you came to it.",
  "- Only text and files reach it; widgets and secret-requests are for people.",
  "- Do not thank, greet or confirm. When there is nothing to say, end your turn without a message.",
].join("\n");

/** Said with a teammate's answer, in the conversation in which it was asked. */
export const PEER_ANSWER_NOTE =
  "This comes from a teammate whom you asked earlier. The people here have not seen it. Tell them with SendMessage what they need of it, ask the teammate further, or end your turn if other answers are still to come.";

/** Said with a person's message to all bots, to those that did not get it directly. */
export const PEER_BROADCAST_NOTE =
  "A person in charge of the bots put this to all of you at once; the other bots have it too. Act on it. If it asks for an answer, send it with SendMessage: a teammate passes it on to the person.";

const TEXTS: Readonly<Record<ReminderKind, string>> = {
  acknowledge:
    "You have been working for a few steps and the person has not heard from you yet. Send one short message that says what you are doing, then go on.",
  "early-result":
    "You have done more work since your last message. If there is already something useful to tell, send it; otherwise go on and send the result when you have it.",
  "long-silence":
    "You have worked for a long stretch without a word. Send a short note on where you are and what is left, then go on.",
  unanswered:
    "Your turn ended without a message, so the person has got no answer: plain text is not shown to anybody. Answer now with SendMessage.",
  unfinished:
    "You said you would look into it and then worked, but the person has not been told the result. Send it now with SendMessage, or say plainly what did not work.",
  untold:
    "Your turn ended with plain text: your text was shown to nobody. If the people here are to know what your teammate brought, tell them now with SendMessage; if not, end your turn without any text.",
  forced: "Answer the person now with one SendMessage call.",
};

/** The text of a reminder, wrapped. */
export function reminderText(kind: ReminderKind): string {
  return reminder(TEXTS[kind]);
}
