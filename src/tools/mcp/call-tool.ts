/** call_tool: runs a tool of a connector that search_tools found (SPEC X2). It takes the same way as one that was offered. */

import { z } from "zod";
import type { Tool } from "../../engine/index.ts";
import { runTool } from "./as-tool.ts";
import { MAX_CALL_MS } from "./connection-call.ts";
import type { Connections } from "./connections.ts";

const input = z.object({
  name: z.string().min(1).max(100).describe("Name of the tool, as search_tools shows it"),
  arguments: z.record(z.string(), z.unknown()).nullish().describe("Its arguments, as search_tools shows them"),
});

/** Not repeatable: what it calls may have happened before a crash. */
export function createCallTool(connections: Connections): Tool<typeof input> {
  return {
    name: "call_tool",
    description: "Run a tool of a connector that is not in your list, by the name search_tools gave.",
    input,
    offeredIn: ["main", "member", "room", "peer", "background"],
    timeoutMs: MAX_CALL_MS,
    execute: ({ name, arguments: args }, context) => runTool(connections, name, args ?? {}, context),
  };
}
