/**
 * Makes the fields of a log line fit to be kept: no secrets by name, no content of messages, no endless values (SPEC O5). Pure.
 * Invariant: whatever object is handed in, what comes out is small plain JSON. Exact secret values are masked afterwards, in log.ts.
 */

const SECRET_KEY =
  /token|secret|password|passwd|authorization|cookie|api[-_]?key|credential|private[-_]?key|signature/i;
/** Fields that carry what people, bots or models said. Callers have no business logging them; this is the net below. */
const CONTENT_KEY =
  /^(content|text|body|blocks|arguments|prompt|messages|markdown|html|caption|transcript|input|output|value|values)$/;
const MAX_DEPTH = 6;
const MAX_ITEMS = 50;
const MAX_CHARS = 1_000;
const MAX_FRAMES = 12;

/** A plain copy of `fields`. An Error given as the fields themselves becomes `{ error }`. */
export function cleanFields(fields: object): Record<string, unknown> {
  if (fields instanceof Error) return { error: describeError(fields, 0) };
  return cleanEntries(fields, 0);
}

function cleanEntries(fields: object, depth: number): Record<string, unknown> {
  const entries = Object.entries(fields).slice(0, MAX_ITEMS);
  return Object.fromEntries(entries.map(([key, value]) => [key, cleanEntry(key, value, depth)]));
}

function cleanEntry(key: string, value: unknown, depth: number): unknown {
  if (value === null || typeof value === "number" || typeof value === "boolean") return value;
  if (SECRET_KEY.test(key) && value !== undefined) return "[secret]";
  if (CONTENT_KEY.test(key) && value !== undefined) return "[content]";
  return cleanValue(value, depth);
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value === "bigint" || typeof value === "symbol") return String(value);
  if (typeof value === "function") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "[deeper]";
  return cleanObject(value, depth + 1);
}

function cleanObject(value: object, depth: number): unknown {
  if (value instanceof Error) return describeError(value, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map || value instanceof Set) return `[${value.size} entries]`;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => cleanValue(item, depth));
  // Dates, addresses and secret values know how they want to be shown.
  if ("toJSON" in value && typeof value.toJSON === "function") return cleanValue(value.toJSON(), depth);
  return cleanEntries(value, depth);
}

/** Addresses lose user, password and query, where signatures and keys travel; long text loses its middle part and end. */
function cleanText(text: string): string {
  const bare = text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, "$1").replace(/(https?:\/\/[^\s?]+)\?\S+/gi, "$1");
  return bare.length <= MAX_CHARS ? bare : `${bare.slice(0, MAX_CHARS)}… (${bare.length} characters)`;
}

/** What helps to find a fault and nothing else: client libraries hang requests, bodies and headers on their errors. */
function describeError(error: Error, depth: number): Record<string, unknown> {
  const extra = Object.fromEntries(
    ["code", "problem", "reason", "status", "statusCode"].flatMap((key) => {
      const value = (error as unknown as Record<string, unknown>)[key];
      return typeof value === "string" || typeof value === "number" ? [[key, value]] : [];
    }),
  );
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const cause = error.cause === undefined || depth >= MAX_DEPTH ? {} : { cause: cleanValue(error.cause, depth + 1) };
  return {
    type: error.name,
    message: safeMessage(error),
    ...extra,
    stack: frames.slice(0, MAX_FRAMES).map((line) => line.trim()),
    ...cause,
  };
}

/** Some libraries quote the data they stumbled over; the part before or after the quotation is what matters. */
function safeMessage(error: Error): string {
  const lines = error.message.trim().split("\n");
  if (error.name.startsWith("Prisma")) return cleanText(lines.at(-1)?.trim() ?? "");
  if (error.name.startsWith("AI_"))
    return cleanText((lines[0] ?? "").split(/\b(?:Text|Value|Error message): /)[0] ?? "");
  if (error instanceof SyntaxError) return (lines[0] ?? "").replace(/".*"/, "…");
  return cleanText(error.message.trim());
}
