/** search_tools: finds tools of connectors by words, with what they need, so that many tools need not stand in every request (SPEC X2). */

import { z } from "zod";
import type { Tool } from "../../engine/index.ts";
import type { Connections } from "./connections.ts";
import { type FoundTool, placeOf } from "./found-tool.ts";
import { oneText, toModelSchema } from "./tool-schemas.ts";

const MAX_FOUND = 10;
const MAX_CHARS = 12_000;

const input = z.object({
  query: z.string().max(300).describe("What the tool should do, in a few words; a connector's name lists its tools"),
});

/** Only reads what is known here. */
export function createSearchTools(connections: Connections): Tool<typeof input> {
  return {
    name: "search_tools",
    description:
      "Find tools of connectors (other systems) by words. Gives names, descriptions and arguments for call_tool.",
    input,
    offeredIn: ["main", "member", "room", "peer", "background"],
    readOnly: true,
    async execute({ query }, context) {
      const tools = await connections.tools(placeOf(context));
      const found = rank(tools, query);
      if (found.length > 0)
        return { ok: true, text: `Found ${found.length} of ${tools.length} tools:\n${describe(found)}` };
      const names = [...new Set(tools.map(({ connection }) => connection.definition.id))].join(", ");
      return {
        ok: true,
        text: names
          ? `No tool fits. Connectors that work now: ${names}. Try other words.`
          : "No connector works here now.",
      };
    },
  };
}

function rank(tools: readonly FoundTool[], query: string): readonly FoundTool[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [])];
  return tools
    .map((found) => ({ found, score: scoreOf(found, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.found.name < b.found.name ? -1 : 1))
    .slice(0, MAX_FOUND)
    .map(({ found }) => found);
}

/** A word in the name counts for more than one in the description. */
function scoreOf({ name, tool, connection }: FoundTool, words: readonly string[]): number {
  const title = `${name} ${tool.name} ${connection.definition.id}`.toLowerCase();
  const text = tool.description.slice(0, 3000).toLowerCase();
  return words.reduce((sum, word) => sum + (title.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0), 0);
}

function describe(found: readonly FoundTool[]): string {
  let left = MAX_CHARS;
  const lines = found.map(({ name, tool }) => {
    const line = `- ${name}: ${oneText(tool.description, 400) || "no description"}\n  arguments: ${JSON.stringify(toModelSchema(tool.inputSchema))}`;
    left -= line.length;
    return left >= 0 ? line : `- ${name} (search for it alone to see its arguments)`;
  });
  return lines.join("\n");
}
