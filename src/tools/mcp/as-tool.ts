/**
 * A connector's tool as the engine's tool: finds its connection when it is called, asks for approval where that is due (SPEC C8), and answers
 * "not connected" in words when the server is not there (SPEC X2). The same path serves tools that were offered and those found by search.
 */

import { z } from "zod";
import { type OfferedTool, type Tool, type ToolContext, type ToolResult, untrustedText } from "../../engine/index.ts";
import { type CallEnd, MAX_CALL_MS } from "./connection-call.ts";
import type { FoundTool, ToolLookup } from "./found-tool.ts";
import { toToolResult } from "./results.ts";
import { oneText, toModelDescription, toModelSchema } from "./tool-schemas.ts";

/** A found tool in the form that is kept with a session. */
export function toOffered({ name, connection, tool }: FoundTool): OfferedTool {
  return {
    name,
    description: toModelDescription(connection.definition.id, tool.description),
    schema: toModelSchema(tool.inputSchema),
    readOnly: tool.isReadOnly,
  };
}

/** The callable form. Its time limit is the connection's: the engine's stands far behind it. */
export function toTool(connections: ToolLookup, offered: OfferedTool): Tool {
  return {
    name: offered.name,
    description: offered.description,
    input: z.unknown(),
    schema: offered.schema,
    offeredIn: ["main", "member", "room", "peer", "background"],
    readOnly: offered.readOnly,
    checksInput: true,
    timeoutMs: MAX_CALL_MS,
    execute: (input, context) => runTool(connections, offered.name, input, context),
  };
}

/** Runs a tool by the name models know it by. */
export async function runTool(
  connections: ToolLookup,
  name: string,
  input: unknown,
  context: ToolContext,
): Promise<ToolResult> {
  const found = await connections.find(name, context);
  if (!found) {
    return { ok: false, text: `Not run: ${name} does not exist here, or not any more. Look for it with search_tools.` };
  }
  const { connection, tool } = found;
  const { definition } = connection;
  const args = input ?? {};
  if (typeof args !== "object" || Array.isArray(args))
    return { ok: false, text: `Not run: the arguments of ${name} must be one JSON object.` };
  const asks = definition.approve === "always" || (definition.approve === "destructive" && tool.isDestructive);
  if (asks && !context.isApproved)
    return context.askApproval(
      `to use \`${oneText(tool.name, 100).replaceAll("`", "")}\` of the connector ${definition.id}, with:`,
    );
  const end = await connection.call(tool.name, args as Record<string, unknown>, context);
  if (end.end === "answered") return toToolResult(end.result, { connector: definition.id, what: tool.name }, context);
  return { ok: false, text: failureText(end, definition.id, name) };
}

/** Why a call has no result, and what to do. */
export function failureText(end: Exclude<CallEnd, { end: "answered" }>, connector: string, what: string): string {
  switch (end.end) {
    case "absent":
      return `not connected: the connector ${connector} does not work now: ${end.text} Nothing was done. Say so, do not pretend; it is tried again in the background.`;
    case "shut":
      return `not connected: ${connector} was not used: ${end.text} In a direct message, manage_connector with action connect shows them the link.`;
    case "late":
      return `${what} of the connector ${connector} took longer than its limit: ${end.text} Unknown: it may have happened. The connector's other tools still work.`;
    case "gone":
      return `${what} of the connector ${connector} was cut off: ${end.text} Unknown: it may have happened. Check before you repeat it.`;
    case "refused":
      return `The connector ${connector} refused ${what}: ${untrustedText(end.text.slice(0, 1000))}`;
  }
}
