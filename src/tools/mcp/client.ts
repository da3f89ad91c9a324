/**
 * One opened MCP connection over the SDK: a local program, or a remote server over streamable HTTP with the older server-sent events as a fall-back.
 * Loaded when the first server is opened, because the SDK takes 28 MB. What a server sends is checked for form only; everything it says is untrusted.
 */

import { once } from "node:events";
import { pathToFileURL } from "node:url";
import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport, SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { ServerAddress } from "./definitions.ts";
import type { ListedTool, OpenedClient, OpenRequest } from "./opened-client.ts";
import { AnswerLostError, ConnectionLostError, SignInNeededError } from "./opened-client.ts";
import { oneText, toModelSchema } from "./tool-schemas.ts";

/** Largest single message of a server, bytes. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** Tools of one server; what is beyond is left out and said. */
const MAX_TOOLS = 1000;
const MAX_PAGES = 50;
/** The SDK's own limits stay out of the way: calls are timed by their connection. */
const NO_LIMIT = { timeout: 2_000_000_000 };
const STDERR_CHARS = 2000;
/** Characters of what a server says of itself. */
const INSTRUCTIONS_CHARS = 600;
const GOODBYE_MS = 2000;

const listPage = ResultSchema.extend({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional().catch(undefined),
});
/** Any object: what was done is not undone by a result in a form that is not known here, and its known parts are still of use. */
const anyResult = z.looseObject({});
const listedTool = z.object({
  name: z.string().min(1).max(200),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown(),
  annotations: z
    .object({
      readOnlyHint: z.boolean().optional().catch(undefined),
      destructiveHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** Opens a connection and says hello. Rejects with whatever went wrong, SignInNeededError when a person must sign in first. */
export async function openClient(request: OpenRequest): Promise<OpenedClient> {
  const { address } = request;
  if (address.kind === "program") return openProgram(request, address);
  if (address.onlySse) return open(request, (auth) => sse(request, address.url, auth));
  try {
    return await open(request, (auth) => streamable(request, address.url, auth));
  } catch (error) {
    // Servers of the older transport answer the first request with one of these.
    const isOlder = error instanceof StreamableHTTPError && [400, 404, 405, 415].includes(error.code ?? 0);
    if (!isOlder) throw error;
    return open(request, (auth) => sse(request, address.url, auth));
  }
}

type Program = Extract<ServerAddress, { kind: "program" }>;

function openProgram(request: OpenRequest, { command, args, cwd }: Program) {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    ...(cwd ? { cwd } : {}),
    env: { ...request.values },
    stderr: "pipe",
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  let tail = "";
  // Read in any case: a program whose error output nobody reads stands still.
  transport.stderr?.on("data", (chunk: Buffer) => {
    tail = `${tail}${chunk.toString("utf8")}`.slice(-STDERR_CHARS);
  });
  return open(request, () => transport).catch((error: unknown) => {
    request.log.debug({ connector: request.id, stderr: tail }, "the program's last words");
    throw error;
  });
}

function streamable({ http, values }: OpenRequest, url: string, authProvider?: OAuthClientProvider): Transport {
  const auth = authProvider ? { authProvider } : {};
  // The SDK's class and its own interface disagree under exact optional types only.
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: http,
    requestInit: { headers: { ...values } },
    ...auth,
  }) as Transport;
}

function sse({ http, values }: OpenRequest, url: string, authProvider?: OAuthClientProvider): Transport {
  const auth = authProvider ? { authProvider } : {};
  return new SSEClientTransport(new URL(url), { fetch: http, requestInit: { headers: { ...values } }, ...auth });
}

async function open(
  request: OpenRequest,
  transportOf: (auth: OAuthClientProvider | undefined) => Transport,
): Promise<OpenedClient> {
  const client = newClient(request);
  const closed = new Promise<void>((resolve) => {
    client.onclose = () => resolve();
  });
  client.onerror = (error) => {
    request.log.debug({ connector: request.id, error: error.message }, "connector error");
    // The older transport's session lives as long as its stream; the SDK would go on in a new one that nobody said hello in.
    if (error instanceof SseError) void client.close().catch(() => undefined); // It is ending already.
  };
  const transport = transportOf(request.auth as OAuthClientProvider | undefined);
  try {
    await client.connect(transport, { ...NO_LIMIT, signal: request.signal });
  } catch (error) {
    await client.close().catch(() => undefined); // It failed already; this only frees what is left.
    throw asSignIn(error, request);
  }
  return opened(client, transport, closed, request);
}

/** A refusal that a person's sign-in would mend; credentials of the settings that are refused are the operator's to mend. */
function asSignIn(error: unknown, { values }: OpenRequest): unknown {
  const hasCredentials = Object.keys(values).some((name) => name.toLowerCase() === "authorization");
  const isRefused = error instanceof StreamableHTTPError && error.code === 401 && !hasCredentials;
  return isRefused || error instanceof UnauthorizedError ? new SignInNeededError({ cause: error }) : error;
}

const UNREACHED: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH"]);

/** A remote server that has forgotten the session, or is not there. Undefined for any other failure. */
function asLost(error: unknown, { address }: OpenRequest): ConnectionLostError | undefined {
  if (address.kind !== "remote" || !(error instanceof Error)) return undefined;
  // Some servers answer 400 where 404 is due.
  const status = statusOf(error);
  const isForgotten = status === 404 || (status === 400 && /session/i.test(error.message));
  if (isForgotten) return new ConnectionLostError(true, { cause: error });
  if (error.message !== "fetch failed") return undefined;
  const code = error.cause instanceof Error && "code" in error.cause ? error.cause.code : undefined;
  return new ConnectionLostError(UNREACHED.has(code), { cause: error });
}

function asAnswerLost(error: unknown): AnswerLostError | undefined {
  const code = statusOf(error);
  if (code !== undefined && code >= 500)
    return new AnswerLostError(`it answered with an error of its own (${code}).`, { cause: error });
  const isUnread = error instanceof StreamableHTTPError && error.code === -1;
  return isUnread ? new AnswerLostError("it answered with something else than MCP.", { cause: error }) : undefined;
}

/** The HTTP status of a refused request; the older transport tells it in words only. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof StreamableHTTPError) return error.code;
  const words = error instanceof Error ? /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(error.message) : null;
  return words ? Number(words[1]) : undefined;
}

function newClient(request: OpenRequest): Client {
  const client = new Client(
    { name: "parley", version: "1" },
    {
      capabilities: {
        // A field a person skips gets the server's default (SEP-1034).
        elicitation: { form: { applyDefaults: true }, url: {} },
        ...(request.onSampling ? { sampling: {} } : {}),
        ...(request.roots.length > 0 ? { roots: {} } : {}),
      },
    },
  );
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) =>
    request.onElicitation(params, signal),
  );
  const { onSampling } = request;
  if (onSampling)
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { signal }) => onSampling(params, signal));
  if (request.roots.length > 0)
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: request.roots.map(toRoot) }));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => request.onListChanged());
  return client;
}

function toRoot(folder: string): { readonly uri: string } {
  return { uri: folder.startsWith("file://") ? folder : pathToFileURL(folder).href };
}

function opened(client: Client, transport: Transport, closed: Promise<void>, request: OpenRequest): OpenedClient {
  const refused = (error: unknown): never => {
    throw asLost(error, request) ?? asAnswerLost(error) ?? asSignIn(error, request);
  };
  const instructions = oneText(client.getInstructions() ?? "", INSTRUCTIONS_CHARS);
  return {
    closed,
    ...(instructions ? { instructions } : {}),
    listTools: (signal) => listTools(client, signal).catch(refused),
    callTool: (name, args, { signal, onProgress }) =>
      client
        .request({ method: "tools/call", params: { name, arguments: args } }, anyResult, {
          ...NO_LIMIT,
          signal,
          onprogress: onProgress,
        })
        .catch(refused),
    readResource: (uri, signal) =>
      client.request({ method: "resources/read", params: { uri } }, anyResult, { ...NO_LIMIT, signal }).catch(refused),
    ping: async (signal) => void (await client.ping({ ...NO_LIMIT, signal })),
    async close() {
      if (transport instanceof StreamableHTTPClientTransport) {
        // Only a courtesy; many servers do not take it, and one that hangs must not hold the end.
        const goodbye = transport.terminateSession().catch(() => undefined);
        await Promise.race([goodbye, once(AbortSignal.timeout(GOODBYE_MS), "abort")]);
      }
      await client.close();
    },
  };
}

/** All pages up to the limits. A tool that is not even one by form is left out; the others stay. */
async function listTools(client: Client, signal: AbortSignal) {
  if (!client.getServerCapabilities()?.tools) return { tools: [], omitted: 0 };
  const tools = new Map<string, ListedTool>();
  let omitted = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    // A signal of its own: the SDK does not stop listening to the one it is given.
    const own = { ...NO_LIMIT, signal: AbortSignal.any([signal]) };
    const answer = await client.request({ method: "tools/list", params }, listPage, own);
    for (const given of answer.tools) {
      const read = listedTool.safeParse(given);
      if (read.success && tools.size < MAX_TOOLS && !tools.has(read.data.name))
        tools.set(read.data.name, toListed(read.data));
      else omitted += 1;
    }
    if (answer.nextCursor === undefined || answer.nextCursor === cursor || tools.size >= MAX_TOOLS) break;
    cursor = answer.nextCursor;
  }
  return { tools: [...tools.values()], omitted };
}

function toListed({ name, description, inputSchema, annotations }: z.infer<typeof listedTool>): ListedTool {
  return {
    name,
    description: description ?? "",
    // As shown, from the start: what was sent may be too deep even to be kept.
    inputSchema: toModelSchema(inputSchema),
    isReadOnly: annotations?.readOnlyHint === true,
    isDestructive: annotations?.destructiveHint === true && annotations.readOnlyHint !== true,
  };
}
