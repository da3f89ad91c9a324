/**
 * Turns whatever a provider client throws or streams as an error into a typed failure (SPEC T8). Pure and duck-typed: it knows statuses,
 * headers and the phrases providers use, not their classes. Texts name status and reason and what to do; they never hold message content,
 * tool arguments or keys. Retrying and falling back are left to fallback.ts.
 */

import type { ModelProblem } from "./model.ts";

/** The failing half of a ModelReply, without the model. */
export interface ProviderFailure {
  readonly problem: ModelProblem;
  /** For the operator. */
  readonly text: string;
  /** Set only when the provider said how long to wait. */
  readonly retryAfterMs?: number;
}

/** What is needed to explain a failure: the model's name, and the setting that holds its key. */
export interface FailureContext {
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** Where the key comes from, for example "ANTHROPIC_API_KEY". */
  readonly keyName?: string | undefined;
  /** Epoch milliseconds, for retry-after dates. */
  readonly now: number;
}

interface ErrorFacts {
  readonly status: number | undefined;
  readonly message: string;
  /** Message, code, type and body together: what phrases are searched in. Never shown. */
  readonly haystack: string;
  readonly headers: Readonly<Record<string, string>>;
}

const MESSAGE_LIMIT = 300;

const OVERFLOW =
  /context_length_exceeded|context[ _-]?(length|window|size|limit)|maximum prompt length|prompt is too long|prompt too long|input is too long|too many (input )?tokens|maximum number of (input )?tokens|token count .{0,40}exceed|request_too_large|reduce the length of the (messages|input)|max_prompt_tokens/i;
const BILLING =
  /insufficient_quota|credit balance|billing|payment required|out of credits|insufficient (credits|balance|funds)/i;
const BAD_KEY =
  /api[ _-]?key (is )?(not valid|invalid)|invalid[ _](api[ _-]?key|x-api-key)|API_KEY_INVALID|incorrect api key|authentication_error|invalid_api_key/i;
const REFUSED =
  /content_filter|content_policy|content[ _-]management policy|safety system|violates? .{0,30}(policy|policies|guidelines)|PROHIBITED_CONTENT|prompt was blocked/i;
const RATE = /rate[ _-]?limit|too many requests|resource_exhausted/i;
const OVERLOADED = /overloaded|at capacity|temporarily unavailable|server_error|api_error|internal_error|unavailable/i;

/** Classifies any thrown value or streamed error. Never throws. Does not know about aborts: ask the signal first. */
export function readProviderError(error: unknown, context: FailureContext): ProviderFailure {
  const facts = readFacts(error);
  const problem = classify(facts);
  const retryAfterMs =
    problem === "rate-limited" || problem === "unavailable" ? readRetryAfter(facts, context.now) : undefined;
  const text = explain(problem, facts, context);
  return retryAfterMs === undefined ? { problem, text } : { problem, text, retryAfterMs };
}

function classify({ status, haystack }: ErrorFacts): ModelProblem {
  if (BILLING.test(haystack) || status === 402) return "auth";
  if (status === 429) return "rate-limited";
  if (status === 401 || BAD_KEY.test(haystack)) return "auth";
  if (status === 413) return "context-overflow";
  if (status === 408) return "timeout";
  if (OVERFLOW.test(haystack) && (status === undefined || status < 502)) return "context-overflow";
  if (REFUSED.test(haystack)) return "refused";
  if (status === 403) return "auth";
  if (status !== undefined && status >= 500) return "unavailable";
  if (status === 409 || status === 425) return "unavailable";
  if (status !== undefined && status >= 400) return "bad-request";
  return classifyWithoutStatus(haystack);
}

/** Errors that arrive inside a stream, connection errors, and answers that could not be read. */
function classifyWithoutStatus(haystack: string): ModelProblem {
  if (RATE.test(haystack)) return "rate-limited";
  if (OVERLOADED.test(haystack)) return "unavailable";
  if (
    /invalid_request|invalid_prompt|bad_request|not_found_error|InvalidArgument|InvalidPrompt|UnsupportedFunctionality|MissingToolResults/i.test(
      haystack,
    )
  ) {
    return "bad-request";
  }
  return "unavailable";
}

function readFacts(error: unknown): ErrorFacts {
  const outer = asRecord(error);
  const inner = asRecord(outer.error);
  const name = readString(outer.name);
  const message = readString(outer.message) || readString(inner.message) || (typeof error === "string" ? error : "");
  const kinds = [outer.code, outer.type, inner.code, inner.type, inner.status].map((value) => readString(value));
  return {
    status:
      readStatus(outer.statusCode) ?? readStatus(outer.status) ?? readStatus(outer.code) ?? readStatus(inner.code),
    message: holdsContent(name) ? "the answer could not be read" : message,
    haystack: [name, message, ...kinds, readString(outer.responseBody), readCause(outer.cause)]
      .join(" ")
      .slice(0, 4000),
    headers: readHeaders(outer.responseHeaders),
  };
}

/** Messages of these errors quote the value that failed, which is content. */
function holdsContent(name: string): boolean {
  return /JSONParse|TypeValidation|InvalidToolInput|InvalidResponseData|NoOutputGenerated|InvalidPrompt|InvalidDataContent/.test(
    name,
  );
}

function explain(problem: ModelProblem, facts: ErrorFacts, context: FailureContext): string {
  const reason = [facts.status === undefined ? "" : String(facts.status), clean(facts.message, context.apiKey)]
    .filter(Boolean)
    .join(": ");
  const advice = ADVICE[problem]?.(context.keyName ?? "the provider's apiKey") ?? "";
  return `${context.model} ${SAYS[problem]}${reason ? ` (${reason})` : ""}.${advice ? ` ${advice}` : ""}`;
}

const SAYS: Readonly<Record<ModelProblem, string>> = {
  aborted: "was stopped",
  "rate-limited": "is rate-limited",
  unavailable: "is unavailable",
  timeout: "did not answer in time",
  auth: "refused the key or the account",
  "context-overflow": "says the request is too long for its context window",
  refused: "declined to answer",
  "bad-request": "refused the request",
  "not-configured": "is not configured",
};

const ADVICE: Readonly<Partial<Record<ModelProblem, (keyName: string) => string>>> = {
  auth: (keyName) => `Check ${keyName} and the account's billing.`,
  "bad-request": () => "Check the model's name and the provider's settings.",
};

/** One short line without keys: providers quote (parts of) the key in their messages. */
function clean(message: string, apiKey: string | undefined): string {
  const line = message.replace(/\s+/g, " ").trim();
  const masked = apiKey && apiKey.length >= 4 ? line.replaceAll(apiKey, "[key]") : line;
  return masked
    .replace(/\b(sk|xai|pk|key|AIza)[-_]?[A-Za-z0-9*_-]{8,}/g, "[key]")
    .replace(/Bearer\s+\S+/gi, "Bearer [key]")
    .slice(0, MESSAGE_LIMIT)
    .replace(/[.\s]+$/, "");
}

function readRetryAfter(facts: ErrorFacts, now: number): number | undefined {
  const exact = Number(facts.headers["retry-after-ms"]);
  if (facts.headers["retry-after-ms"] && Number.isFinite(exact)) return Math.max(0, exact);
  const header = facts.headers["retry-after"];
  if (header) {
    const seconds = Number(header);
    if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
    const date = Date.parse(header);
    if (Number.isFinite(date)) return Math.max(0, date - now);
  }
  // Google puts the delay into the body: "retryDelay": "34s".
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(facts.haystack);
  return delay ? Number(delay[1]) * 1000 : undefined;
}

function readCause(value: unknown): string {
  const cause = asRecord(value);
  return [readString(cause.code), readString(cause.message)].join(" ");
}

function readHeaders(value: unknown): Record<string, string> {
  const entries = Object.entries(asRecord(value)).map(([key, text]) => [key.toLowerCase(), String(text)] as const);
  return Object.fromEntries(entries);
}

function readStatus(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && number >= 400 && number <= 599 ? number : undefined;
}

function readString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
