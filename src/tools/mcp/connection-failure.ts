/** Why a connection could not be made, in words for people and models. Invariant: nothing the server or its program wrote is in them. */

import { basename } from "node:path";
import { TransferError } from "../../engine/index.ts";
import type { ConnectorDefinition } from "./definitions.ts";

/** One sentence without a subject: "it cannot be reached." */
export function describeFailure(error: unknown, { address }: ConnectorDefinition): string {
  if (error instanceof TransferError) return `its address is refused: ${error.text}`;
  const { code, status } = factsOf(error);
  if (address.kind === "program") {
    if (code === "ENOENT") return `its program ${programOf(address.command)} was not found.`;
    if (code === "EACCES") return `its program ${programOf(address.command)} may not be run.`;
    if (/did not answer in time|abort/i.test(messageOf(error))) return "it did not answer in time.";
    if (/connection closed|EPIPE/i.test(messageOf(error))) return "its program ended right after its start.";
    return NOT_MCP;
  }
  if (status === 401 || status === 403) return "it refuses the credentials it was given.";
  if (status !== undefined && status >= 500) return `it answers with an error of its own (${status}).`;
  if (status !== undefined && status >= 400) return `it does not take our requests (${status}).`;
  if (/did not answer in time|abort/i.test(messageOf(error))) return "it did not answer in time.";
  return code === -1 || isMisread(error) ? NOT_MCP : "it cannot be reached.";
}

/** The name alone: where it lies on this machine is nobody's business in a conversation. */
function programOf(command: string): string {
  return JSON.stringify(basename(command));
}

const NOT_MCP = "what it answers is not MCP as it is understood here.";

/** An answer came, and it was not what the protocol says. */
function isMisread(error: unknown): boolean {
  return error instanceof Error && (error.name === "ZodError" || /protocol version|JSON/i.test(error.message));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function factsOf(error: unknown): { readonly code?: unknown; readonly status?: number } {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "number" && code >= 400 && code < 600 ? { code, status: code } : { code };
}
