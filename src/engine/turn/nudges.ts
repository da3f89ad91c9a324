/**
 * When a bot is reminded (SPEC M11) and what happens when a person's turn ends without a word (M12). Pure deciders over the turn's counters.
 */

import type { ReminderKind } from "../context/reminders.ts";
import type { TurnProgress } from "../session.ts";

const LONG_SILENCE = 6;
const LONG_SILENCE_EVERY = 7;

/** Further forced steps after the first, because a wrong call can be mended. */
const FORCED_AGAIN = 3;

/** The reminder due before the next step, if any; never two at once. */
export function dueReminder(
  progress: TurnProgress,
): { readonly kind: ReminderKind; readonly mark: string } | undefined {
  const calls = progress.callsSinceSend;
  const streak = Math.floor((calls - LONG_SILENCE - 1) / LONG_SILENCE_EVERY);
  if (calls > LONG_SILENCE && !progress.reminded.includes(`long-${streak}`))
    return { kind: "long-silence", mark: `long-${streak}` };
  if (calls > LONG_SILENCE) return undefined;
  if (progress.bubbles === 0 && calls > 1 && !progress.reminded.includes("acknowledge"))
    return { kind: "acknowledge", mark: "acknowledge" };
  if (progress.bubbles > 0 && calls > 0 && !progress.reminded.includes("early-result"))
    return { kind: "early-result", mark: "early-result" };
  return undefined;
}

/** Progress after a tool other than SendMessage was called; parallel calls count singly. */
export function afterToolCall(progress: TurnProgress): TurnProgress {
  return { ...progress, callsSinceSend: progress.callsSinceSend + 1, workAfterSend: progress.bubbles > 0 };
}

/** What to do when the model stops calling tools. */
export type EndDecision =
  | { readonly do: "end" }
  | { readonly do: "remind"; readonly kind: ReminderKind; readonly progress: TurnProgress }
  | { readonly do: "force"; readonly progress: TurnProgress }
  | { readonly do: "notice" };

/** SPEC M12: reminder, then forced choice, then the host's notice; one closing re-run for acknowledged work. Only turns that owe a person an answer. */
export function decideEnd(progress: TurnProgress, owesAnswer: boolean): EndDecision {
  if (!owesAnswer || progress.reacted) return { do: "end" };
  if (progress.bubbles > 0) {
    if (!progress.workAfterSend || progress.closingTried) return { do: "end" };
    // Without work since then it is a newer message that has got no answer.
    const kind = progress.callsSinceSend > 0 ? "unfinished" : "unanswered";
    return { do: "remind", kind, progress: { ...progress, closingTried: true } };
  }
  if (progress.silentTries === 0)
    return { do: "remind", kind: "unanswered", progress: { ...progress, silentTries: 1 } };
  if (progress.silentTries === 1) return { do: "force", progress: { ...progress, silentTries: 2 } };
  return { do: "notice" };
}

/** Progress with the one reminder that is due when a turn which may be silent ends in words nobody reads; undefined when none is due. */
export function remindUntold(progress: TurnProgress, text: string): TurnProgress | undefined {
  if (text.trim() === "" || progress.bubbles > 0 || progress.reacted || progress.reminded.includes("untold"))
    return undefined;
  return { ...progress, reminded: [...progress.reminded, "untold"] };
}

/** True when the next step must speak (SPEC M12). */
export function mustSpeak(progress: TurnProgress): boolean {
  return progress.silentTries >= 2 && progress.bubbles === 0;
}

/** Progress after a step that had to speak; unchanged after any other. */
export function afterForcedStep(progress: TurnProgress): TurnProgress {
  return mustSpeak(progress) ? { ...progress, silentTries: progress.silentTries + 1 } : progress;
}

/** True when a bot that had to speak has not managed to, often enough. */
export function spokeInVain(progress: TurnProgress): boolean {
  return mustSpeak(progress) && progress.silentTries > 2 + FORCED_AGAIN;
}
