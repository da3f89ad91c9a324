/** read_output: the rest of a connector's long output, page by page, and resources that a result named (SPEC P2). */

import { z } from "zod";
import { readAttachmentUrl, type Tool, type ToolContext, type ToolResult } from "../../engine/index.ts";
import { failureText } from "./as-tool.ts";
import type { Connections } from "./connections.ts";
import { placeOf } from "./found-tool.ts";
import { inFence, PAGE_CHARS, toResourceResult } from "./results.ts";
import { oneText } from "./tool-schemas.ts";

/** Bytes read for one page: enough for its characters, whatever they are. */
const MAX_BYTES = 26 * 1024 * 1024;

const input = z.object({
  address: z
    .string()
    .min(1)
    .max(2000)
    .describe("The file:///attachments/ address of an output, or the address of a resource"),
  connector: z.string().nullish().describe("For a resource: the connector it belongs to"),
  offset: z.number().int().min(0).nullish().describe("Characters to skip"),
});

/** Only reads. */
export function createReadOutput(connections: Connections): Tool<typeof input> {
  return {
    name: "read_output",
    description: "Read on in a long output of a connector, or read a resource that a connector's result named.",
    input,
    offeredIn: ["main", "member", "room", "peer", "background"],
    readOnly: true,
    timeoutMs: 120_000,
    execute: ({ address, connector, offset }, context) =>
      connector ? readResource(connections, connector, address, context) : readPage(address, offset ?? 0, context),
  };
}

async function readResource(
  connections: Connections,
  id: string,
  uri: string,
  context: ToolContext,
): Promise<ToolResult> {
  const visible = await connections.visible(placeOf(context));
  const connection = visible.find(({ definition }) => definition.id === id);
  if (!connection) return { ok: false, text: `There is no connector ${JSON.stringify(id)} here.` };
  const end = await connection.read(uri, context);
  if (end.end === "answered") return toResourceResult(end.result, { connector: id, what: uri }, context);
  return { ok: false, text: failureText(end, id, `the resource ${oneText(uri, 300)}`) };
}

async function readPage(address: string, offset: number, context: ToolContext): Promise<ToolResult> {
  const id = readAttachmentUrl(address);
  const isText = id && /^(txt|md|csv|json|xml|html|log|yaml|yml)$/.test(id.ext);
  if (!id || !isText)
    return { ok: false, text: "That is not the address of an output in text. Name the connector to read a resource." };
  const opened = await context.openFile(id, { start: 0, end: MAX_BYTES });
  if (!opened) return { ok: false, text: "There is no such output any more. Call the tool again." };
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.stream) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  const page = text.slice(offset, offset + PAGE_CHARS);
  const left = text.length - offset - page.length;
  if (!page) return { ok: false, text: `The output ends at character ${text.length}.` };
  const next =
    left > 0 ? `\n(${left} more characters. Read on with offset ${offset + page.length}.)` : "\n(This is the end.)";
  return { ok: true, text: `${inFence(page, { connector: "output", what: `from ${offset}` })}${next}` };
}
