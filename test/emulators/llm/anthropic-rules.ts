/**
 * What Anthropic's Messages API refuses: wrong order of tool use and results, empty text, thinking together with a
 * forced tool, thinking blocks that are missing or changed, more than four cache marks.
 * Returns the complaint's text or null; the error format is `anthropic.ts`'s business.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText, isFields } from "../loopback.ts";
import type { Memory } from "./dialect.ts";
import { choiceProblem, toolProblem } from "./tool-rules.ts";

/** The first broken rule of a request body. */
export function requestProblem(body: Fields, memory: Memory): string | null {
  if (asText(body.model) === "") return "model: Field required";
  if (!Number.isInteger(body.max_tokens) || Number(body.max_tokens) < 1) return "max_tokens: Field required";
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "messages: at least one message is required";
  const messages = body.messages.map(asFields);
  return (
    systemProblem(body.system) ??
    messagesProblem(messages) ??
    toolsProblem(body) ??
    thinkingProblem(body, messages, memory) ??
    (cacheMarks(body) > 4 ? "A maximum of 4 blocks with cache_control may be provided." : null)
  );
}

/** True when the model is asked to think. */
export function isThinking(body: Fields): boolean {
  const { type } = asFields(body.thinking);
  return type === "enabled" || type === "adaptive";
}

function systemProblem(system: unknown): string | null {
  if (system === undefined || typeof system === "string") return null;
  const blocks = asList(system).map(asFields);
  if (blocks.some((block) => block.type !== "text")) return "system: only text blocks are allowed";
  return blocks.some((block) => asText(block.text) === "") ? "system: text content blocks must be non-empty" : null;
}

/** A message's content as blocks. */
export function blocksOf(message: Fields): Fields[] {
  return typeof message.content === "string"
    ? [{ type: "text", text: message.content }]
    : asList(message.content).map(asFields);
}

function messagesProblem(messages: readonly Fields[]): string | null {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    if (message.role !== "user" && message.role !== "assistant")
      return `${at}.role: Input should be 'user' or 'assistant'`;
    const blocks = blocksOf(message);
    const problem = blocksProblem(blocks, at) ?? resultsProblem(blocks, open, at);
    if (problem) return problem;
    open =
      message.role === "assistant"
        ? blocks.filter((block) => block.type === "tool_use").map((block) => asText(block.id))
        : [];
    if (new Set(open).size !== open.length) return `${at}: tool_use ids must be unique`;
  }
  if (messages[0]?.role !== "user") return "messages: first message must use the user role";
  const last = messages.at(-1);
  return last?.role === "assistant"
    ? "This model does not support assistant message prefill. The conversation must end with a user message."
    : null;
}

function blocksProblem(blocks: readonly Fields[], at: string): string | null {
  if (blocks.length === 0) return `${at}: all messages must have non-empty content`;
  for (const [index, block] of blocks.entries()) {
    const type = asText(block.type);
    const allowed = ["text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking"];
    if (!allowed.includes(type)) return `${at}.content.${index}: unexpected type '${type}'`;
    if (type === "text" && asText(block.text).trim() === "")
      return `${at}.content.${index}: text content blocks must contain non-whitespace text`;
    if (type === "tool_use" && !isFields(block.input))
      return `${at}.content.${index}.tool_use.input: Input should be a valid dictionary`;
  }
  return null;
}

function resultsProblem(blocks: readonly Fields[], open: readonly string[], at: string): string | null {
  const results = blocks.filter((block) => block.type === "tool_result").map((block) => asText(block.tool_use_id));
  const missing = open.filter((id) => !results.includes(id));
  if (missing.length > 0) {
    return `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  }
  const stray = results.find((id) => !open.includes(id));
  if (stray !== undefined) return `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}`;
  const late = blocks.findIndex((block) => block.type === "tool_result") > 0 && blocks[0]?.type !== "tool_result";
  return late && open.length > 0 ? `${at}: tool_result blocks must come first in the content` : null;
}

function toolsProblem(body: Fields): string | null {
  const tools = asList(body.tools)
    .map(asFields)
    .filter((tool) => tool.input_schema !== undefined || tool.type === undefined || tool.type === "custom");
  const sent = tools.map((tool) => ({ name: tool.name, schema: tool.input_schema ?? null }));
  const choice = asFields(body.tool_choice);
  const named = choice.type === "tool" ? asText(choice.name) : null;
  return toolProblem(sent, "tools", 128) ?? choiceProblem({ required: choice.type === "any", name: named }, sent);
}

function thinkingProblem(body: Fields, messages: readonly Fields[], memory: Memory): string | null {
  const changed = changedThinking(messages, memory);
  if (changed) return changed;
  if (!isThinking(body)) return null;
  const choice = asText(asFields(body.tool_choice).type);
  if (choice === "any" || choice === "tool") return "Thinking may not be enabled when tool_choice forces tool use.";
  if (body.temperature !== undefined && body.temperature !== 1)
    return "`temperature` may only be set to 1 when thinking is enabled.";
  if (body.top_k !== undefined) return "`top_k` must be unset when thinking is enabled.";
  const budget = asFields(body.thinking).budget_tokens;
  if (asFields(body.thinking).type === "enabled") {
    if (!(Number(budget) >= 1024))
      return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
    if (Number(budget) >= Number(body.max_tokens)) return "`max_tokens` must be greater than `thinking.budget_tokens`.";
    return missingThinking(messages);
  }
  return null;
}

function changedThinking(messages: readonly Fields[], memory: Memory): string | null {
  for (const [index, message] of messages.entries()) {
    for (const [place, block] of blocksOf(message).entries()) {
      if (block.type === "thinking" && memory.signatures.get(asText(block.signature)) !== block.thinking) {
        return `messages.${index}.content.${place}: Invalid \`signature\` in \`thinking\` block`;
      }
    }
  }
  return null;
}

/** While tool results are being returned, the assistant's message must still begin with its thinking. */
function missingThinking(messages: readonly Fields[]): string | null {
  const last = messages.at(-1);
  const index = messages.length - 2;
  const before = messages[index];
  if (!last || !before || !blocksOf(last).some((block) => block.type === "tool_result")) return null;
  const first = asText(blocksOf(before)[0]?.type);
  if (first === "thinking" || first === "redacted_thinking") return null;
  return `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`;
}

function cacheMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + cacheMarks(item), 0);
  if (!isFields(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [key, part]) => sum + (key === "cache_control" && part ? 1 : cacheMarks(part)),
    0,
  );
}
