/**
 * Tool arguments nested so deep that neither the SDK nor a database can hold them. The SDK would take them for a failure of the provider, so they are
 * cut off before it reads them: then they are arguments that are no JSON, and the model hears what is wrong with them.
 */

import type { LanguageModelMiddleware } from "ai";

type Streaming = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapStream"]>>>;
type Part = Streaming["stream"] extends ReadableStream<infer P> ? P : never;

/** Levels of lists and objects inside each other that arguments may have; no tool of ours comes near. */
export const MAX_NESTING = 200;

/** True when the text of a JSON value goes deeper than `MAX_NESTING`, whether it is whole or cut off. */
export function isTooDeep(json: string): boolean {
  return deepAt(json) !== undefined;
}

/** Where it becomes too deep. */
function deepAt(json: string): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '"') inString = !inString;
    else if (inString) at += sign === "\\" ? 1 : 0;
    else if (sign === "[" || sign === "{") depth += 1;
    else if (sign === "]" || sign === "}") depth -= 1;
    if (depth > MAX_NESTING) return at;
  }
  return undefined;
}

/** Cuts the arguments of calls in a model's stream where they become too deep; what is left is no JSON. */
export const WITHOUT_DEEP_ARGUMENTS: LanguageModelMiddleware = {
  specificationVersion: "v3",
  wrapStream: async ({ doStream }) => {
    const result = await doStream();
    const shallow = new TransformStream<Part, Part>({ transform: (part, out) => out.enqueue(withoutDepth(part)) });
    return { ...result, stream: result.stream.pipeThrough(shallow) };
  },
};

function withoutDepth(part: Part): Part {
  const at = part.type === "tool-call" ? deepAt(part.input) : undefined;
  return part.type === "tool-call" && at !== undefined ? { ...part, input: part.input.slice(0, at + 1) } : part;
}
