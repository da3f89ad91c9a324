/**
 * Finds models by "provider/model" and puts retries and the fallback models behind each (SPEC T8). Invariant: `get` never throws and always
 * gives a model; one that cannot work answers `not-configured` and says which key or setting is missing.
 */

import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { createAiSdkModel } from "./ai-sdk-model.ts";
import type { DemoFiles } from "./demo-files.ts";
import { createDemoModel, DEMO_MODEL } from "./demo-model.ts";
import { createFallbackModel, type FailedAttempt } from "./fallback.ts";
import type { Model, Models } from "./model.ts";
import type { ReadImage } from "./model-images.ts";
import { KEY_NAMES, type ProviderKind, type ProviderSettings } from "./providers.ts";

type BuiltIn = Exclude<ProviderKind, "openai-compatible">;

/** Settings and services, all handed in. */
export interface ModelsOptions {
  /** By the name used before the slash; one named like a built-in provider replaces it (its `kind` may stay the same). */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Values of the built-in providers' usual keys. */
  readonly keys: Readonly<Partial<Record<BuiltIn, string | undefined>>>;
  /** What an empty name stands for. */
  readonly defaultModel: string;
  /** Tried in order after a model has failed for good. */
  readonly fallbackModels: readonly string[];
  readonly readImage: ReadImage;
  readonly clock: Clock;
  readonly log: Log;
  /** Longest step, ms. */
  readonly modelMs: number;
  readonly demoFiles: DemoFiles;
  /** Pause between the demo model's bubbles, ms; default 0. */
  readonly demoPaceMs?: number;
  /** Tries per model, default 3. */
  readonly attempts?: number;
  /** Told of every failed attempt, for metrics; the log line is written here. */
  readonly onFailure?: (attempt: FailedAttempt) => void;
}

/** Creates the finder. Models are made once per name; clients are loaded at their first step. */
export function createModels(options: ModelsOptions): Models {
  const made = new Map<string, Model>();
  const single = new Map<string, Model>();
  const getSingle = (name: string) => remember(single, name, () => createSingle(name, options));
  return {
    get: (asked) => {
      const name = asked.trim() || options.defaultModel;
      return remember(made, name, () => withFallback(name, options, getSingle));
    },
  };
}

function remember(models: Map<string, Model>, name: string, make: () => Model): Model {
  const known = models.get(name) ?? make();
  models.set(name, known);
  return known;
}

function withFallback(name: string, options: ModelsOptions, getSingle: (name: string) => Model): Model {
  const names = [name, ...options.fallbackModels.filter((other) => other !== name)];
  return createFallbackModel(names.map(getSingle), {
    clock: options.clock,
    ...(options.attempts === undefined ? {} : { attempts: options.attempts }),
    onFailure: (attempt) => {
      options.log.warn({ ...attempt }, "model attempt failed");
      options.onFailure?.(attempt);
    },
  });
}

function createSingle(name: string, options: ModelsOptions): Model {
  const { clock, readImage, modelMs } = options;
  if (name === DEMO_MODEL) {
    return createDemoModel({ files: options.demoFiles, clock, paceMs: options.demoPaceMs ?? 0 });
  }
  const slash = name.indexOf("/");
  const modelId = name.slice(slash + 1);
  if (slash < 1 || modelId === "") {
    return createUnconfigured(
      name,
      `"${name}" is not a model name: write provider/model, for example anthropic/claude-sonnet-5, or demo.`,
    );
  }
  const providerName = name.slice(0, slash);
  const provider = findProvider(providerName, options);
  const missing = provider ? missingSetting(providerName, provider) : unknownProvider(providerName, options);
  if (!provider || missing) return createUnconfigured(name, `${name} cannot be used: ${missing}`);
  return createAiSdkModel({ name, modelId, provider, readImage, clock, modelMs });
}

function findProvider(name: string, options: ModelsOptions): ProviderSettings | undefined {
  const own = Object.hasOwn(options.providers, name) ? options.providers[name] : undefined;
  const usual = isBuiltIn(name) ? { kind: name, apiKey: options.keys[name], keyName: KEY_NAMES[name] } : undefined;
  if (!own) return usual;
  const keyName =
    own.keyName ?? (own.apiKey ? `providers.${name}.apiKey` : usual?.keyName) ?? `providers.${name}.apiKey`;
  const sameKind = usual?.kind === own.kind;
  return { ...own, apiKey: own.apiKey || (sameKind ? usual?.apiKey : undefined), keyName };
}

function isBuiltIn(name: string): name is BuiltIn {
  return Object.hasOwn(KEY_NAMES, name);
}

/** What to set, in words; undefined when the provider can be asked. */
function missingSetting(name: string, provider: ProviderSettings): string | undefined {
  if (provider.kind === "openai-compatible")
    return provider.baseURL ? undefined : `set providers.${name}.baseURL in the settings file.`;
  if (provider.apiKey) return undefined;
  return `set ${provider.keyName} (in the environment or .env).`;
}

function unknownProvider(name: string, options: ModelsOptions): string {
  const known = [...new Set([...Object.keys(KEY_NAMES), ...Object.keys(options.providers)])].join(", ");
  return `there is no provider "${name}". Add it under providers in the settings file, or use one of: ${known}.`;
}

function createUnconfigured(name: string, text: string): Model {
  return {
    name,
    contextWindow: 100_000,
    step: async () => ({ ok: false, model: name, problem: "not-configured", text }),
  };
}
