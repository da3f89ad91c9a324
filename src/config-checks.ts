/**
 * Decides which bots there are, and checks rules that span several keys: unique bots, models with a reachable provider, safe places to listen.
 * Pure: settings and environment in, values and problems out. Invariant: a problem names the key or variable and the fix, never a secret.
 */
import type { Environment, Problem } from "./config-file.ts";
import { type KeyPath, nearest } from "./config-keys.ts";
import {
  type BotEntry,
  BUILT_IN_PROVIDERS,
  type BuiltInProvider,
  type FileSettings,
  isLoopbackHost,
} from "./config-schema.ts";
import type { BotConfig, BotOrigin, Config } from "./config-values.ts";

/** The bots that will live in this process, and where they come from. */
export interface Bots {
  readonly origin: BotOrigin;
  readonly bots: readonly BotConfig[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

interface Choice {
  readonly settings: FileSettings;
  readonly env: Environment;
  readonly providerKeys: Readonly<Partial<Record<BuiltInProvider, string>>>;
  readonly file: string | undefined;
}

/** Used when only a key is given; in this order. */
const DEFAULT_MODELS: readonly (readonly [BuiltInProvider, string])[] = [
  ["anthropic", "anthropic/claude-sonnet-5"],
  ["openai", "openai/gpt-5.2"],
  ["google", "google/gemini-3.8-flash"],
  ["xai", "xai/grok-4"],
];

const DEMO_BOTS: readonly Pick<BotEntry, "id" | "name" | "role">[] = [
  { id: "ada", name: "Ada", role: "Research teammate. Finds sources, compares them, says what is uncertain." },
  {
    id: "bo",
    name: "Bo",
    role: "Engineering teammate. Reads code, explains trade-offs, keeps answers short and exact.",
  },
  {
    id: "cy",
    name: "Cy",
    role: "Operations teammate. Plans, makes checklists, asks before anything that cannot be undone.",
  },
];

const KEY_NAMES = Object.values(BUILT_IN_PROVIDERS)
  .map(([variable]) => variable)
  .join(", ");

/** The file's bots; else one bot called Parley for platform tokens in the environment; else the demo bots. */
export function chooseBots(choice: Choice): Bots {
  if (choice.settings.bots.length > 0) return fromFile(choice);
  return fromEnvironment(choice) ?? demo(choice);
}

function fromFile({ settings, providerKeys }: Choice): Bots {
  const general = settings.model ?? defaultModel(providerKeys);
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const bots = settings.bots.map((bot, index) => {
    const model = bot.model ?? general;
    if (model !== undefined) return { ...bot, model };
    // On a platform a demo would answer real people; in the playground it is a fair start.
    if (bot.slack || bot.discord)
      problems.push({ path: ["bots", index, "model"], text: `no model is set. ${HOW_TO_GET_A_MODEL}` });
    else warnings.push(`Bot ${bot.id} runs on the demo model because no model is set. ${HOW_TO_GET_A_MODEL}`);
    return { ...bot, model: "demo" };
  });
  return { origin: "file", bots, problems, warnings };
}

const HOW_TO_GET_A_MODEL = `Add model: provider/name to the settings file, or set one of ${KEY_NAMES}.`;

function fromEnvironment({ settings, env, providerKeys, file }: Choice): Bots | undefined {
  const botToken = env.SLACK_BOT_TOKEN;
  const appToken = env.SLACK_APP_TOKEN || undefined;
  const signingSecret = env.SLACK_SIGNING_SECRET || undefined;
  const token = env.DISCORD_BOT_TOKEN;
  if (!botToken && !token && !appToken && !signingSecret) return undefined;
  const problems: Problem[] = [];
  const say = (text: string) => problems.push({ path: [], text });
  if (!botToken && !token)
    say("SLACK_BOT_TOKEN is not set, but SLACK_APP_TOKEN or SLACK_SIGNING_SECRET is. Set all the bot needs, or none");
  if (botToken && !appToken && !signingSecret) {
    say(
      "SLACK_BOT_TOKEN is set, but neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP). Set one of them",
    );
  }
  const model = settings.model ?? defaultModel(providerKeys);
  if (model === undefined) {
    const token = botToken ? "SLACK_BOT_TOKEN" : "DISCORD_BOT_TOKEN";
    say(
      `${token} is set, but no model provider's key. Set one of ${KEY_NAMES}${file === undefined ? "" : ", or model in the settings file"}`,
    );
  }
  const bot: BotConfig = {
    id: "parley",
    name: "Parley",
    role: "Helpful teammate. Answers questions, keeps track of what was agreed, says what is uncertain.",
    model: model ?? "demo",
    lanes: 4,
    ...(botToken ? { slack: { botToken, appToken, signingSecret } } : {}),
    ...(token ? { discord: { token } } : {}),
  };
  return { origin: "environment", bots: [bot], problems, warnings: [] };
}

function demo({ settings, providerKeys }: Choice): Bots {
  const model = settings.model ?? defaultModel(providerKeys) ?? "demo";
  const bots = DEMO_BOTS.map((bot) => ({ ...bot, model, lanes: 4 }));
  const warnings =
    model === "demo"
      ? [
          "No bots are configured: the demo bots Ada, Bo and Cy are in the playground. npx parley init starts a settings file.",
        ]
      : [];
  return { origin: "demo", bots, problems: [], warnings };
}

function defaultModel(providerKeys: Choice["providerKeys"]): string | undefined {
  return DEFAULT_MODELS.find(([provider]) => providerKeys[provider] !== undefined)?.[1];
}

/** Ids, names and platform apps belong to one bot each: people, addresses and tokens tell bots apart by them. */
export function checkBots(config: Pick<Config, "bots">): Problem[] {
  const parts: readonly [KeyPath, string, (bot: BotConfig) => string | undefined][] = [
    [["id"], "ids are for one bot only. Choose another id", (bot) => bot.id],
    [["name"], "people and bots address bots by name. Choose another name", (bot) => bot.name.toLowerCase()],
    [
      ["slack", "botToken"],
      "each bot needs its own Slack app. npx parley manifest <bot> prints one",
      (bot) => bot.slack?.botToken,
    ],
    [
      ["slack", "appToken"],
      "each bot needs its own Slack app. npx parley manifest <bot> prints one",
      (bot) => bot.slack?.appToken,
    ],
    [["discord", "token"], "each bot needs its own Discord application", (bot) => bot.discord?.token],
  ];
  const shared = parts.flatMap(([path, advice, pick]) => {
    const values = config.bots.map(pick);
    return values.flatMap((value, index) => {
      const first = values.indexOf(value);
      if (value === undefined || first === index) return [];
      return [{ path: ["bots", index, ...path], text: `is the same as that of bots[${first}]; ${advice}` }];
    });
  });
  return [...shared, ...checkPersonas(config.bots)];
}

/** A persona needs a bot with an app of its own to speak through. */
function checkPersonas(bots: readonly BotConfig[]): Problem[] {
  const hosts = bots.filter((bot) => bot.slack && bot.slack.personaOf === undefined).map((bot) => bot.id);
  return bots.flatMap((bot, index) => {
    const host = bot.slack?.personaOf;
    if (host === undefined || hosts.includes(host)) return [];
    const known = hosts.length > 0 ? `Use one of: ${hosts.join(", ")}` : "Give one of the bots a Slack app first";
    return [{ path: ["bots", index, "slack", "personaOf"], text: `${host} is no bot with a Slack app. ${known}` }];
  });
}

/** Every model must name a known provider that has what it needs; a fallback that lacks its key is only useless, so it passes. */
export function checkModels(config: Config, missing: ReadonlyMap<string, string>): Problem[] {
  const uses: readonly { path: KeyPath; model: string; optional?: boolean }[] = [
    ...config.bots.map((bot, index) => ({
      path: config.origin === "file" ? ["bots", index, "model"] : ["model"],
      model: bot.model,
    })),
    ...(config.utilityModel === undefined ? [] : [{ path: ["utilityModel"], model: config.utilityModel }]),
    ...config.fallbackModels.map((model, index) => ({ path: ["fallbackModels", index], model, optional: true })),
  ];
  const seen = new Set<string>();
  return uses.flatMap(({ path, model, optional }) => {
    const text = problemOf(model, config, missing, optional === true);
    if (text === undefined || seen.has(text)) return [];
    seen.add(text);
    return [{ path, text }];
  });
}

function problemOf(
  model: string,
  config: Config,
  missing: ReadonlyMap<string, string>,
  optional: boolean,
): string | undefined {
  if (model === "demo") return undefined;
  const name = model.slice(0, model.indexOf("/"));
  if (Object.hasOwn(config.providers, name)) return optional ? undefined : keyProblem(name, model, config, missing);
  const builtIn = Object.entries(BUILT_IN_PROVIDERS).find(([provider]) => provider === name);
  if (builtIn === undefined) return unknownProvider(name, config);
  const [provider, variables] = builtIn;
  const hasKey = config.providerKeys[provider as BuiltInProvider] !== undefined;
  return hasKey || optional
    ? undefined
    : `${model} needs ${variables.join(" or ")}. Set it in the environment or in .env`;
}

/** A local server may ask for no key; a named variable that is not set is a slip, and so is a built-in format without any key. */
function keyProblem(
  name: string,
  model: string,
  config: Config,
  missing: ReadonlyMap<string, string>,
): string | undefined {
  const entry = config.providers[name];
  const variable = missing.get(`providers.${name}.apiKey`);
  if (variable !== undefined) {
    const otherwise = entry?.kind === "openai-compatible" ? ", or remove apiKey if the server asks for none" : "";
    return `${model} needs the key of provider ${name}, and the environment variable ${variable} is not set. Set it${otherwise}`;
  }
  const hasKey = entry?.apiKey || entry?.kind === "openai-compatible" || config.providerKeys[name as BuiltInProvider];
  return hasKey ? undefined : `${model} needs a key. Set providers.${name}.apiKey`;
}

function unknownProvider(name: string, config: Config): string {
  const known = [...Object.keys(config.providers), ...Object.keys(BUILT_IN_PROVIDERS)];
  const near = nearest(name, known);
  const advice =
    near === undefined ? `Add it under providers, or use one of ${known.join(", ")}` : `Did you mean ${near}?`;
  return `there is no provider called ${name}. ${advice}`;
}

/** Where the process listens and how processes share work (SPEC O1). */
export function checkPlaces(config: Config): Problem[] {
  const problems: Problem[] = [];
  if (!isLoopbackHost(config.web.host) && config.web.password === "") {
    const text = `${config.web.host} can be reached by other machines, so a password is needed. Set PARLEY_PASSWORD (or web.password), or use 127.0.0.1`;
    problems.push({ path: ["web", "host"], text });
  }
  if (config.role === "all") return problems;
  if (config.storage.databaseUrl === "" || config.storage.redisUrl === "") {
    const text = `--role ${config.role} shares work between processes and needs both DATABASE_URL and REDIS_URL. Set them, or use --role all`;
    problems.push({ path: [], text });
  }
  return problems;
}
