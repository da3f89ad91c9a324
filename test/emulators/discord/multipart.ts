/**
 * Reading request bodies: JSON, and multipart with `payload_json` and `files[n]` in any order.
 * Invariant: a body that is neither is refused as Discord does (50109 for broken JSON, 50035 for a wrong type).
 */
import type { Arrived, Fields } from "../loopback.ts";
import { isFields } from "../loopback.ts";
import type { SentFile } from "./model.ts";
import { refuse } from "./refusal.ts";

/** The parsed body of a request. Lists (bulk overwrites) come as `{ list }`. */
export interface ParsedBody {
  readonly fields: Fields;
  readonly files: readonly SentFile[];
}

/** Parses a body; an empty one is an empty form. */
export function parseBody({ body, headers }: Arrived): ParsedBody {
  const type = headers["content-type"] ?? "";
  const boundary = /^multipart\/form-data;.*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
  if (boundary) return fromParts(splitParts(body, boundary[1] ?? boundary[2] ?? ""));
  if (body.length === 0) return { fields: {}, files: [] };
  if (!/^application\/json/i.test(type)) return refuse(400, 50035, "Invalid Form Body");
  return { fields: parseJson(body.toString("utf8")), files: [] };
}

function parseJson(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Broken JSON has its own code.
    return refuse(400, 50109, "The request body contains invalid JSON.");
  }
  if (Array.isArray(value)) return { list: value };
  return isFields(value) ? value : refuse(400, 50035, "Invalid Form Body");
}

interface Part {
  readonly name: string;
  readonly fileName: string | null;
  readonly type: string;
  readonly bytes: Buffer;
}

function splitParts(body: Buffer, boundary: string): Part[] {
  const mark = Buffer.from(`--${boundary}`);
  const parts: Part[] = [];
  let start = body.indexOf(mark);
  while (start >= 0) {
    const next = body.indexOf(mark, start + mark.length);
    if (next < 0) break;
    const part = readPart(body.subarray(start + mark.length + 2, next - 2));
    if (part) parts.push(part);
    start = next;
  }
  return parts;
}

function readPart(bytes: Buffer): Part | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = bytes.subarray(0, end).toString("utf8");
  return {
    name: /\bname="([^"]*)"/i.exec(head)?.[1] ?? "",
    fileName: /\bfilename="([^"]*)"/i.exec(head)?.[1] ?? null,
    type: /content-type:\s*([^\r\n]+)/i.exec(head)?.[1] ?? "",
    bytes: bytes.subarray(end + 4),
  };
}

/** Files without `payload_json` come with plain form fields. */
function fromParts(parts: readonly Part[]): ParsedBody {
  const files = parts
    .filter((part) => part.fileName !== null)
    .map((part) => ({ key: part.name, name: part.fileName ?? "", type: part.type, bytes: Buffer.from(part.bytes) }));
  const payload = parts.find((part) => part.name === "payload_json");
  if (payload) return { fields: parseJson(payload.bytes.toString("utf8")), files };
  const plain = parts.filter((part) => part.fileName === null);
  return { fields: Object.fromEntries(plain.map((part) => [part.name, part.bytes.toString("utf8")])), files };
}
