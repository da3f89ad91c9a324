/**
 * One call on an open connection (SPEC T9, P2): its limit starts anew with each sign of progress and stands still while a person is being asked. What
 * comes of it is a value; after the limit the server is told to stop and everything else on the connection goes on.
 */

import type { Clock, ToolContext } from "../../engine/index.ts";
import {
  AnswerLostError,
  type CallProgress,
  ConnectionLostError,
  type OpenedClient,
  type RawResult,
  SignInNeededError,
} from "./opened-client.ts";
import { oneText } from "./tool-schemas.ts";

/** A call that is running. `asking` counts questions to its person that are open. */
export interface Flight {
  readonly context: ToolContext;
  readonly connector: string;
  asking: number;
  /** Called when the connection ends while the call is under way. */
  onGone?: () => void;
}

/** How a call ended. absent: not connected · late: over its limit · gone: the server went away, it may have happened · refused: the server says no ·
 * shut: a person must sign in again. */
export type CallEnd =
  | { readonly end: "answered"; readonly result: RawResult }
  | {
      readonly end: "absent" | "late" | "gone" | "refused" | "shut";
      readonly text: string;
      /** The connection is of no use any more. With `absent`, the call was not taken. */
      readonly isLost?: true;
      /** Pages to open first, when that is why it was refused. */
      readonly pages?: readonly unknown[];
    };

/** Signs of progress one call may give: a server that floods keeps everything else from being done. */
const MAX_PROGRESS = 10_000;
/** A call's longest life, whatever progress it reports, ms. */
export const MAX_CALL_MS = 15 * 60_000;
const ASKING_LOOK_MS = 500;

/** Runs `work` under its limits. */
export async function runCall(
  parts: { readonly client: OpenedClient; readonly flight: Flight; readonly clock: Clock; readonly timeoutMs: number },
  work: (
    client: OpenedClient,
    flight: Flight,
    signal: AbortSignal,
    onProgress: (flight: Flight, progress: CallProgress) => void,
  ) => Promise<RawResult>,
): Promise<CallEnd> {
  const { client, flight, clock, timeoutMs } = parts;
  const limit = startLimit(clock, timeoutMs, flight);
  let signs = 0;
  const onProgress = (of: Flight, progress: CallProgress) => {
    signs += 1;
    if (signs > MAX_PROGRESS) return limit.cut();
    limit.extend();
    of.context.showProgress(progressText(of.connector, progress));
  };
  const signal = AbortSignal.any([flight.context.signal, limit.signal]);
  try {
    const gone = new Promise<CallEnd>((resolve) => {
      flight.onGone = () => resolve({ end: "gone", text: "the server went away during the call." });
    });
    const answer = work(client, flight, signal, onProgress).then((result): CallEnd => ({ end: "answered", result }));
    return await Promise.race([answer, gone, whenAborted(signal)]);
  } catch (error) {
    if (signs > MAX_PROGRESS)
      return {
        end: "gone",
        text: "it sent more signs of progress than a call may, and is started anew.",
        isLost: true,
      };
    return failureOf(error, limit.signal.aborted, timeoutMs);
  } finally {
    limit.end();
  }
}

/** A server that does not stop when told to must not hold the call. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(new Error("aborted"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function failureOf(error: unknown, isLate: boolean, timeoutMs: number): CallEnd {
  const seconds = Math.round(timeoutMs / 1000);
  if (isLate) return { end: "late", text: `it gave no sign for ${seconds} s and was told to stop.` };
  const message = error instanceof Error ? error.message : String(error);
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  // The SDK's own words; servers use the same code for errors of theirs.
  if (message === "MCP error -32000: Connection closed" || (code === undefined && message === "Not connected"))
    return { end: "gone", text: "the server went away during the call." };
  if (error instanceof ConnectionLostError) {
    return error.isUndone
      ? { end: "absent", text: "it ended the connection; another is being made.", isLost: true }
      : { end: "gone", text: "the server went away during the call.", isLost: true };
  }
  if (error instanceof AnswerLostError) return { end: "gone", text: message };
  if (error instanceof SignInNeededError)
    return { end: "shut", text: "the sign-in there is not valid any more; the person has to connect it again." };
  const pages = pagesIn(error);
  return { end: "refused", text: message, ...(pages.length > 0 ? { pages } : {}) };
}

/** The pages that a server wants opened before it does what it was asked (error -32042). */
function pagesIn(error: unknown): readonly unknown[] {
  if (typeof error !== "object" || error === null || !("code" in error) || error.code !== -32042) return [];
  const data = "data" in error ? (error.data as { readonly elicitations?: unknown } | null) : null;
  return Array.isArray(data?.elicitations) ? data.elicitations.slice(0, 3) : [];
}

function startLimit(clock: Clock, timeoutMs: number, flight: Flight) {
  const over = new AbortController();
  const ended = new AbortController();
  const began = clock.now();
  let last = began;
  const watch = async () => {
    while (!ended.signal.aborted) {
      const now = clock.now();
      if (flight.asking > 0) last = now;
      const left = Math.min(last + timeoutMs, began + MAX_CALL_MS) - now;
      if (left <= 0) return over.abort();
      await clock.delay(flight.asking > 0 ? ASKING_LOOK_MS : left, ended.signal);
    }
  };
  void watch();
  return {
    signal: over.signal,
    extend: () => {
      last = clock.now();
    },
    cut: () => over.abort(),
    end: () => ended.abort(),
  };
}

function progressText(connector: string, { progress, total, message }: CallProgress): string {
  const share = total && total > 0 ? ` ${Math.min(100, Math.round((100 * progress) / total))} %` : "";
  const words = oneText(message ?? "", 150);
  return `is using ${connector}:${share}${words ? ` ${words}` : share ? "" : ` step ${progress}`}`;
}
