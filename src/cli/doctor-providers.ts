/**
 * Asks each model provider that a bot uses whether it knows the key, by listing its models: that costs nothing and starts no generation.
 * Invariant: the key goes to the provider's own address only, never into a text.
 */
import type { Config } from "../config.ts";
import type { Finding } from "./command-line.ts";

interface Question {
  readonly provider: string;
  readonly kind: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const ADDRESSES: Readonly<Record<string, string>> = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  xai: "https://api.x.ai/v1",
};

/** One finding per provider in use; the demo model asks nobody. Takes at most 8 s. */
export async function checkProviders(config: Config, ask: typeof fetch): Promise<Finding[]> {
  const models = [...config.bots.map((bot) => bot.model), config.utilityModel ?? "", ...config.fallbackModels];
  const names = new Set(
    models.filter((model) => model.includes("/")).map((model) => model.slice(0, model.indexOf("/"))),
  );
  const answers = [...names].map((name) => checkProvider(toQuestion(name, config), ask));
  return Promise.all(answers);
}

function toQuestion(provider: string, config: Config): Question {
  const own = Object.hasOwn(config.providers, provider) ? config.providers[provider] : undefined;
  const kind = own?.kind ?? provider;
  const key = own?.apiKey || Object.entries(config.providerKeys).find(([name]) => name === kind)?.[1] || "";
  const base = (own?.baseURL || ADDRESSES[kind] || "").replace(/\/+$/, "");
  return { provider, kind, url: `${base}/models`, headers: headersFor(kind, key) };
}

function headersFor(kind: string, key: string): Record<string, string> {
  if (key === "") return {};
  if (kind === "anthropic") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
  if (kind === "google") return { "x-goog-api-key": key };
  return { authorization: `Bearer ${key}` };
}

async function checkProvider({ provider, url, headers }: Question, ask: typeof fetch): Promise<Finding> {
  try {
    const answer = await ask(url, { headers, signal: AbortSignal.timeout(8_000), redirect: "error" });
    await answer.body?.cancel();
    return toFinding(provider, answer.status);
  } catch {
    // Refused, unknown and slow have one remedy, and a client's error text could quote the request.
    return {
      state: "fault",
      what: `provider ${provider}: ${new URL(url).host} does not answer`,
      fix: "Check its baseURL, the network, and that a local server runs.",
    };
  }
}

function toFinding(provider: string, status: number): Finding {
  if (status >= 200 && status < 300) return { state: "ok", what: `provider ${provider}: answers and knows the key` };
  if (status === 401 || status === 403) {
    return {
      state: "fault",
      what: `provider ${provider}: does not accept the key (${status})`,
      fix: "Make a new key there and set it in the environment or .env.",
    };
  }
  // Some compatible servers do not list models; that they answer is all that can be known.
  if (status === 404 || status === 405) return { state: "ok", what: `provider ${provider}: answers` };
  return {
    state: "warning",
    what: `provider ${provider}: answers with ${status}`,
    fix: "Try again later; the key could not be checked.",
  };
}
