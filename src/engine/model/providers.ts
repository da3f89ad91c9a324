/**
 * The model providers: which client each kind needs (loaded on first use), its options for a step, and what is known of its limits.
 * Keys and addresses are values; with both given, the clients read nothing from the environment. The step itself is ai-sdk-model.ts.
 */

import { createHash } from "node:crypto";
import type { LanguageModelMiddleware } from "ai";
import { WITHOUT_DEEP_ARGUMENTS } from "./deep-arguments.ts";
import type { ModelRequest } from "./model.ts";
import { COMPATIBLE, type ProviderOptions } from "./reply-content.ts";

/** Wire formats Parley speaks; the settings file names them in `kind`. */
export const PROVIDER_KINDS = ["anthropic", "openai", "google", "xai", "openai-compatible"] as const;
/** One of PROVIDER_KINDS. */
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** One provider of the settings file, or a built-in one with its usual key. */
export interface ProviderSettings {
  readonly kind: ProviderKind;
  /** Without it the kind's public address; required for openai-compatible. */
  readonly baseURL?: string | undefined;
  /** May be missing only for openai-compatible. */
  readonly apiKey?: string | undefined;
  /** Tokens; without it what is known of the model. */
  readonly contextWindow?: number | undefined;
  /** The variable or setting that holds the key, named in messages to the operator. */
  readonly keyName?: string | undefined;
}

const BASE_URLS: Readonly<Record<Exclude<ProviderKind, "openai-compatible">, string>> = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  xai: "https://api.x.ai/v1",
};

/** Usual variables of the built-in providers' keys. */
export const KEY_NAMES: Readonly<Record<Exclude<ProviderKind, "openai-compatible">, string>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
  xai: "XAI_API_KEY",
};

/**
 * Loads the client of a provider and gives its model. The middleware removes the client's warnings ("unknown model" and the like) from
 * the stream before the SDK prints them to the console: the SDK's own switch is a global variable, which tests and other users of the
 * SDK in this process would share.
 */
export async function loadLanguageModel(settings: ProviderSettings, modelId: string) {
  const { wrapLanguageModel } = await import("ai");
  return wrapLanguageModel({
    model: await loadClient(settings, modelId),
    middleware: [WITHOUT_WARNINGS, WITHOUT_DEEP_ARGUMENTS],
  });
}

async function loadClient(settings: ProviderSettings, modelId: string) {
  const apiKey = settings.apiKey ?? "";
  const baseURL = baseUrlOf(settings);
  switch (settings.kind) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL })(modelId);
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ apiKey, baseURL }).responses(modelId);
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI({ apiKey, baseURL })(modelId);
    }
    default: {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({ name: COMPATIBLE, apiKey, baseURL, includeUsage: true })(modelId);
    }
  }
}

function baseUrlOf(settings: ProviderSettings): string {
  const usual = settings.kind === "openai-compatible" ? "" : BASE_URLS[settings.kind];
  return (settings.baseURL || usual).replace(/\/+$/, "");
}

const WITHOUT_WARNINGS: LanguageModelMiddleware = {
  specificationVersion: "v3",
  wrapStream: async ({ doStream }) => {
    const result = await doStream();
    const quiet = new TransformStream<Part, Part>({
      transform: (part, out) => out.enqueue(part.type === "stream-start" ? { ...part, warnings: [] } : part),
    });
    return { ...result, stream: result.stream.pipeThrough(quiet) };
  },
};
type Streaming = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapStream"]>>>;
type Part = Streaming["stream"] extends ReadableStream<infer P> ? P : never;

/** What a provider needs besides messages and tools. `forced` says that this call must use one tool. */
export function stepOptions(
  kind: ProviderKind,
  request: ModelRequest,
  forced: boolean,
): { readonly providerOptions: ProviderOptions; readonly headers: Record<string, string> } {
  switch (kind) {
    case "anthropic":
      // Anthropic refuses a forced choice while thinking is on (SPEC M12).
      return { providerOptions: forced ? { anthropic: { thinking: { type: "disabled" } } } : {}, headers: {} };
    case "openai":
      // Nothing is kept at the provider: reasoning travels encrypted in the provider state instead of as a reference.
      return {
        providerOptions: {
          openai: { store: false, ...(request.cacheKey ? { promptCacheKey: shortKey(request.cacheKey) } : {}) },
        },
        headers: {},
      };
    case "xai":
      // Requests with the same id reach the same server, where the prefix is cached.
      return { providerOptions: {}, headers: request.cacheKey ? { "x-grok-conv-id": shortKey(request.cacheKey) } : {} };
    default:
      return { providerOptions: {}, headers: {} };
  }
}

/** Cache keys may be at most 64 characters long and go into a header. */
function shortKey(key: string): string {
  return /^[\w.:-]{1,64}$/.test(key) ? key : createHash("sha256").update(key).digest("hex");
}

/** Tokens a model takes in: as set, else what is published for its family, else a careful guess. */
export function contextWindowOf(settings: ProviderSettings, modelId: string): number {
  if (settings.contextWindow) return settings.contextWindow;
  const known = WINDOWS.find(([kind, pattern]) => kind === settings.kind && pattern.test(modelId));
  return known?.[2] ?? 128_000;
}

const WINDOWS: readonly (readonly [ProviderKind, RegExp, number])[] = [
  ["anthropic", /./, 200_000],
  ["openai", /^gpt-4\.1/, 1_000_000],
  ["openai", /^gpt-([5-9]|\d\d)/, 272_000],
  ["openai", /^o\d/, 200_000],
  ["google", /^gemini/, 1_000_000],
  ["xai", /^grok-([4-9]|\d\d)/, 256_000],
];

/** Tokens of answer asked for when a request does not say: an eighth of the window, so that a prompt of 85 % still fits (SPEC X3). */
export function defaultOutputTokens(contextWindow: number): number {
  return Math.max(512, Math.min(16_384, Math.floor(contextWindow / 8)));
}
