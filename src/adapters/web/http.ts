/**
 * Small pieces of the playground's HTTP side: JSON answers, readable refusals, and the proof that a request comes from our own page.
 * Invariant: a request that changes something is taken only from the same origin, so no other website can act for a visitor.
 */

import type { WireError } from "./wire.ts";

/** A refusal that says what is wrong; thrown by handlers, answered as JSON. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const COMMON = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** A JSON answer that is never cached. */
export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  const all = { ...COMMON, "content-type": "application/json; charset=utf-8", ...headers };
  return new Response(JSON.stringify(body), { status, headers: all });
}

/** The refusal as JSON. */
export function problem(status: number, error: string): Response {
  return json({ error } satisfies WireError, status);
}

/**
 * Refuses a request that another website made a visitor's browser send. `opaque`: an origin the browser hides is taken too, for pages that are sent
 * without a referrer and are proven by something a stranger does not have.
 */
export function requireSameOrigin(request: Request, { opaque = false } = {}): void {
  const site = request.headers.get("sec-fetch-site");
  if (site && site !== "same-origin" && site !== "none") {
    throw new HttpProblem(403, "This address takes requests of its own page only.");
  }
  const origin = request.headers.get("origin");
  if (opaque && origin === "null") return;
  if (!site && origin && hostOf(origin) !== hostOf(request.url, request.headers.get("host"))) {
    throw new HttpProblem(403, "This address takes requests of its own page only.");
  }
}

/** The JSON object of a request. The content type is demanded because a foreign form cannot send it without asking first. */
export async function readJson(request: Request): Promise<Readonly<Record<string, unknown>>> {
  requireSameOrigin(request);
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
    throw new HttpProblem(415, "Send JSON with the header content-type: application/json.");
  }
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    throw new HttpProblem(400, "The body is not readable JSON.");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new HttpProblem(400, "The body must be a JSON object.");
  }
  return body as Readonly<Record<string, unknown>>;
}

/** A text field of a JSON body; `missing` is the refusal when it is not a text. */
export function textField(body: Readonly<Record<string, unknown>>, name: string, missing: string): string {
  const value = body[name];
  if (typeof value !== "string") throw new HttpProblem(400, missing);
  return value;
}

function hostOf(url: string, host?: string | null): string {
  if (host) return host.toLowerCase();
  return URL.canParse(url) ? new URL(url).host.toLowerCase() : "";
}
