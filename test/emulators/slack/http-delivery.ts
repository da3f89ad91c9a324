/**
 * Signed HTTP requests to an app's request URL, as Slack makes them: v0 signature over timestamp and raw body, three
 * seconds for an answer, no redirects.
 * Invariant: never throws; a failure is a reply with its reason in Slack's words.
 */
import { createHmac } from "node:crypto";
import type { App } from "./model.ts";
import type { Workspace } from "./workspace.ts";

/** What came back. `status` 0 = no answer, then `failure` says why. */
export interface SignedReply {
  readonly status: number;
  readonly text: string;
  readonly noRetry: boolean;
  readonly failure: "http_timeout" | "connection_failed" | null;
}

/** The two headers that prove a body comes from Slack; `at` in seconds. */
export function signatureHeaders(secret: string, body: string, at: number): Record<string, string> {
  const digest = createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex");
  return { "x-slack-request-timestamp": String(at), "x-slack-signature": `v0=${digest}` };
}

/** Posts a body to the app's request URL. */
export async function postSigned(
  workspace: Workspace,
  app: App,
  body: string,
  headers: Record<string, string>,
): Promise<SignedReply> {
  if (!app.requestUrl) return { status: 0, text: "", noRetry: false, failure: "connection_failed" };
  const signature = signatureHeaders(app.signingSecret, body, Math.floor(Date.now() / 1000));
  try {
    const response = await fetch(app.requestUrl, {
      method: "POST",
      body,
      headers: { "user-agent": "Slackbot 1.0", accept: "*/*", ...headers, ...signature },
      redirect: "manual",
      signal: AbortSignal.timeout(workspace.timing.ackTimeoutMs),
    });
    const text = await response.text();
    return { status: response.status, text, noRetry: response.headers.get("x-slack-no-retry") === "1", failure: null };
  } catch (error) {
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    return { status: 0, text: "", noRetry: false, failure: timedOut ? "http_timeout" : "connection_failed" };
  }
}
