/**
 * The only way to download (SPEC M5): https to public hosts, redirects followed by hand and re-checked each time, everything capped in bytes and time.
 * Invariant: no socket is opened to an address that host-rules has not passed, and a caller's headers reach only the origin they were given for.
 * Reading within limits is left to guarded-body, what becomes of the bytes to the caller.
 */
import type { Readable } from "node:stream";
import { type Agent, request as send } from "undici";
import { type Download, type DownloadRequest, type GuardedFetch, TransferError } from "../download.ts";
import type { Log } from "../log.ts";
import { type Deadline, rejectOnAbort, startDeadline } from "./deadline.ts";
import { StatusError, toFailure, toTransferError } from "./download-failure.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import { isReadableEncoding, limitBody, tooLarge } from "./guarded-body.ts";
import { createHostRules, type HostRules, type LookupAll, toPlainHost } from "./host-rules.ts";

/** Settings of a guard. */
export interface GuardedFetchSettings {
  /** Host names or IPs, no port, that are let through besides public ones (setting net.allowPrivateHosts). */
  readonly allowPrivateHosts: readonly string[];
  /** Lets plain http through, for hosts in `allowPrivateHosts` only. Default false. */
  readonly allowHttp?: boolean;
  /** Milliseconds without answer headers, or of dripping, after which a server is cut off. Default 15,000. */
  readonly idleMs?: number;
  /** Trusted authorities (PEM) instead of Node's; for tests. */
  readonly ca?: string;
  /** Name lookup instead of the system's; for tests. */
  readonly lookup?: LookupAll;
  readonly log?: Log;
}

interface Guard {
  readonly rules: HostRules;
  readonly agent: Agent;
  readonly allowHttp: boolean;
  readonly idleMs: number;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

const DEFAULT_IDLE_MS = 15_000;
const DEFAULT_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Ours to set: `host` and framing belong to the connection, and compression would only have to be undone. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "te",
  "upgrade",
]);

/** Makes a guard. A malformed `allowPrivateHosts` entry is a ConfigError; everything later is a value or a TransferError from the body. */
export function createGuardedFetch(settings: GuardedFetchSettings): GuardedFetch {
  const rules = createHostRules(settings.allowPrivateHosts, settings.lookup);
  const agent = createGuardedAgent(rules, settings.ca);
  const guard: Guard = {
    rules,
    agent,
    allowHttp: settings.allowHttp ?? false,
    idleMs: settings.idleMs ?? DEFAULT_IDLE_MS,
  };
  return async (url, request) => {
    const deadline = startDeadline(request.timeoutMs, request.signal);
    try {
      return await download(guard, url, request, deadline);
    } catch (error) {
      deadline.release();
      const failure = toFailure(error, hostOf(url));
      settings.log?.info(
        { host: hostOf(url), reason: failure.reason, status: failure.status },
        "download refused or failed",
      );
      return failure;
    }
  };
}

async function download(guard: Guard, start: string, request: DownloadRequest, deadline: Deadline): Promise<Download> {
  let url = checkUrl(guard, start, request.allowedHosts);
  let headers = request.headers ?? {};
  const seen = new Set<string>();
  for (let hop = 0; hop <= (request.maxRedirects ?? DEFAULT_REDIRECTS); hop += 1) {
    seen.add(url.href);
    const answer = await ask(guard, url, request.method ?? "GET", headers, deadline);
    if (!REDIRECTS.has(answer.status)) return toDownload(guard, url, answer, request, deadline);
    answer.body.destroy();
    const next = checkUrl(guard, toTarget(answer, url), request.allowedHosts);
    if (seen.has(next.href))
      throw new TransferError(
        "redirects",
        `${url.host} redirects in a circle; there is nothing to fetch at this address.`,
      );
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
  throw new TransferError("redirects", `${url.host} redirects too often. Use the address where the file finally is.`);
}

function checkUrl(guard: Guard, text: string, allowedHosts: readonly string[] | undefined): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === "") throw new TransferError("bad-url", "This is not a complete https address.");
  checkScheme(guard, url);
  if (url.username !== "" || url.password !== "") {
    throw new TransferError(
      "credentials",
      "The address contains a user name or password before the host; such addresses are refused. Leave that part out.",
    );
  }
  if (allowedHosts !== undefined && !allowedHosts.some((allowed) => isHost(url.hostname, allowed))) {
    throw new TransferError(
      "host-not-listed",
      `${url.hostname} is not one of the file hosts allowed for this download.`,
    );
  }
  guard.rules.checkLiteral(url.hostname);
  url.hash = "";
  return url;
}

function checkScheme(guard: Guard, url: URL): void {
  if (url.protocol === "https:") return;
  if (url.protocol === "http:" && guard.allowHttp && guard.rules.isListed(url.hostname)) return;
  throw new TransferError(
    "not-https",
    `Only https:// addresses may be fetched, not ${url.protocol}//. Use the https address of the file.`,
  );
}

function isHost(hostname: string, allowed: string): boolean {
  const host = toPlainHost(hostname);
  return allowed.startsWith("*.") ? host.endsWith(toPlainHost(allowed.slice(1))) : host === toPlainHost(allowed);
}

async function ask(
  guard: Guard,
  url: URL,
  method: "GET" | "HEAD",
  headers: Readonly<Record<string, string>>,
  deadline: Deadline,
): Promise<Answer> {
  const sent = send(url.href, {
    method,
    dispatcher: guard.agent,
    signal: deadline.signal,
    headersTimeout: guard.idleMs,
    bodyTimeout: 0,
    headers: toSentHeaders(headers),
  });
  // undici notices an abort only once it is connected; a host that never answers must not outlast the deadline.
  const {
    statusCode,
    headers: received,
    body,
  } = await Promise.race([sent, rejectOnAbort(deadline.signal)]).catch((error: unknown) => {
    sent.then((late) => late.body.destroy()).catch(() => undefined); // Nobody waits for it any more, its outcome changes nothing.
    throw toTransferError(error, url.host);
  });
  // Errors of the body are reported to whoever iterates it; without this listener an unread body that times out would crash the process.
  body.on("error", () => undefined);
  return { status: statusCode, headers: joinHeaders(received), body };
}

function toSentHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const own: Record<string, string> = { "user-agent": "Parley", accept: "*/*" };
  for (const [name, value] of Object.entries(headers)) {
    if (!OWN_HEADERS.has(name.toLowerCase())) own[name.toLowerCase()] = value;
  }
  return { ...own, "accept-encoding": "identity" };
}

function toTarget(answer: Answer, from: URL): string {
  const location = answer.headers.location ?? "";
  if (location === "" || !URL.canParse(location, from.href)) {
    throw new TransferError("redirects", `${from.host} answered with a redirect that leads nowhere.`);
  }
  return new URL(location, from).href;
}

function toDownload(guard: Guard, url: URL, answer: Answer, request: DownloadRequest, deadline: Deadline): Download {
  const { status, headers, body } = answer;
  const limits = { maxBytes: request.maxBytes, idleMs: guard.idleMs, host: url.host };
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  try {
    if (status < 200 || status > 299) throw new StatusError(url.host, status, headers["retry-after"]);
    if (!isReadableEncoding(encoding))
      throw new TransferError("encoding", `${url.host} compresses the file in a way that is not supported.`);
    if (request.method !== "HEAD" && Number(headers["content-length"] ?? 0) > limits.maxBytes) throw tooLarge(limits);
  } catch (error) {
    body.destroy();
    throw error;
  }
  const cancel = () => {
    deadline.release();
    body.destroy();
  };
  const mediaType = toMediaType(headers["content-type"]);
  return {
    ok: true,
    status,
    headers,
    mediaType,
    finalUrl: url.href,
    body: readBody(limitBody(body, encoding, limits), url.host, deadline),
    cancel,
  };
}

async function* readBody(
  chunks: AsyncIterable<Uint8Array>,
  host: string,
  deadline: Deadline,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw toTransferError(error, host);
  } finally {
    deadline.release();
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

function toMediaType(contentType: string | undefined): string {
  const bare = (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  return /^[\w.+-]+\/[\w.+-]+$/.test(bare) ? bare : "application/octet-stream";
}

function joinHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return joined;
}
