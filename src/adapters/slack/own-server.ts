/**
 * Downloads from the server that the settings name as Slack when it runs on this machine (a test, a development set-up): plain http on loopback, which
 * the download guard refuses for good reasons.
 * Invariant: only that very origin is contacted; a redirect is handed to the guard without any header. Everything else is left to the guard.
 */

import type { Download, DownloadFailure, DownloadRequest, GuardedFetch } from "../../engine/index.ts";
import { TransferError } from "../../engine/index.ts";

/** True for addresses on the configured API's own origin, if that is this machine. */
export function isOwnServer(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const own = new URL(apiUrl);
  const isHere = /^(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])$/.test(own.hostname);
  return isHere && new URL(url).origin === own.origin;
}

/** Fetches with the request's headers and limits; `guard` gets what the server redirects to. */
export async function downloadFromOwnServer(
  url: string,
  request: DownloadRequest,
  guard: GuardedFetch,
): Promise<Download | DownloadFailure> {
  const over = new AbortController();
  const signals = [over.signal, AbortSignal.timeout(request.timeoutMs), ...(request.signal ? [request.signal] : [])];
  try {
    const answer = await fetch(url, {
      redirect: "manual",
      headers: { ...request.headers },
      signal: AbortSignal.any(signals),
    });
    const target = answer.headers.get("location");
    if (answer.status >= 300 && answer.status < 400 && target !== null) {
      over.abort();
      const { headers: _withheld, ...rest } = request;
      return await guard(URL.canParse(target, url) ? new URL(target, url).href : "", rest);
    }
    if (!answer.ok) {
      over.abort();
      return { ok: false, reason: "status", status: answer.status, text: `the server answered ${answer.status}` };
    }
    return toDownload(answer, request.maxBytes, () => over.abort());
  } catch {
    return { ok: false, reason: "connection", text: "the server did not answer" };
  }
}

function toDownload(answer: Response, maxBytes: number, cancel: () => void): Download {
  return {
    ok: true,
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    mediaType: (answer.headers.get("content-type") ?? "application/octet-stream").split(";")[0]?.trim() ?? "",
    finalUrl: answer.url,
    body: limited(answer, maxBytes, cancel),
    cancel,
  };
}

async function* limited(answer: Response, maxBytes: number, cancel: () => void): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of answer.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw new TransferError("too-large", "The file is larger than what is read.");
      yield chunk;
    }
  } finally {
    cancel();
  }
}
