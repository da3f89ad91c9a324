/**
 * Reads a Web API request's arguments from the query, a form, a multipart body or JSON; structured arguments arrive
 * as JSON text and are decoded here.
 * Invariant: text that is not JSON where a structure belongs is refused with the code Slack uses for that argument.
 */
import type { Arrived, Fields } from "../loopback.ts";
import { asFields } from "../loopback.ts";
import { refuse, refuseArguments } from "./refusal.ts";

const STRUCTURED: Readonly<Record<string, string>> = {
  blocks: "invalid_blocks_format",
  attachments: "invalid_attachments",
  metadata: "invalid_metadata_format",
  view: "invalid_arguments",
  files: "invalid_arguments",
  prompts: "invalid_arguments",
  loading_messages: "invalid_arguments",
  chunks: "invalid_chunks",
  message: "invalid_arguments",
  file_ids: "invalid_arguments",
};

/** All arguments by name, structures decoded. */
export async function readArguments(arrived: Arrived): Promise<Fields> {
  const args: Fields = { ...Object.fromEntries(arrived.url.searchParams), ...(await readBodyArguments(arrived)) };
  for (const [name, code] of Object.entries(STRUCTURED)) {
    if (typeof args[name] === "string" && args[name] !== "") args[name] = decode(name, args[name], code);
  }
  return args;
}

async function readBodyArguments({ headers, body }: Arrived): Promise<Fields> {
  const type = headers["content-type"] ?? "";
  if (body.length === 0) return {};
  if (type.startsWith("application/json")) {
    try {
      return asFields(JSON.parse(body.toString("utf8")));
    } catch {
      return refuse("invalid_json");
    }
  }
  if (type.startsWith("multipart/form-data")) {
    const form = await readMultipart(body, type);
    return Object.fromEntries(form.filter(([, value]) => typeof value === "string"));
  }
  if (type.startsWith("application/x-www-form-urlencoded"))
    return Object.fromEntries(new URLSearchParams(body.toString("utf8")));
  return refuse("invalid_form_data");
}

/** The parts of a multipart body, files included. */
export async function readMultipart(body: Buffer, type: string): Promise<[string, string | Blob][]> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  return [...form.entries()] as [string, string | Blob][];
}

function decode(name: string, text: string, code: string): unknown {
  // `message` is also a plain word in some methods; only braces make it a structure.
  if (name === "message" && !text.startsWith("{")) return text;
  if (name === "file_ids" && !text.startsWith("[")) return text.split(",");
  try {
    return JSON.parse(text);
  } catch {
    return code === "invalid_arguments" ? refuseArguments(`${name} is not valid JSON`) : refuse(code);
  }
}
