/**
 * Reads parley.yaml, `.env` and the environment once and gives everything as checked values; the only file that reads the environment.
 * Invariant: what it returns can be acted on without further checks, and what is wrong becomes one ConfigError that lists every problem with its
 * key, line and fix. The form of each key is in config-schema.ts, reading in config-file.ts, rules between keys in config-checks.ts.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkBots, checkModels, checkPlaces, chooseBots } from "./config-checks.ts";
import {
  type Environment,
  type Problem,
  parseEnvText,
  type ReadSettings,
  readSettings,
  toError,
} from "./config-file.ts";
import { BUILT_IN_PROVIDERS, type BuiltInProvider, type FileSettings, isLoopbackHost } from "./config-schema.ts";
import type { Config, LogLevel, ProcessRole, StorageConfig, Warning } from "./config-values.ts";
import { ConfigError, type EngineSettings } from "./engine/index.ts";

export { unsetVariable } from "./config-file.ts";
export type {
  BotConfig,
  BotOrigin,
  Config,
  LogLevel,
  ProcessRole,
  ProviderConfig,
  StorageConfig,
  Warning,
} from "./config-values.ts";

/** Where to look. Everything defaults to this process's own; relative paths in the file are taken from `cwd`. */
export interface ConfigSources {
  /** Command line after the program's name: `--config FILE`, `--role all|gateway|worker`. */
  readonly argv?: readonly string[];
  readonly env?: Environment;
  readonly cwd?: string;
  /** For commands that act on settings still being made: unset variables count as set, and keys and places are not judged. Default false. */
  readonly isDraft?: boolean;
}

/** Loads and checks all settings. Throws ConfigError with every problem found, one a line. */
export function loadConfig(sources: ConfigSources = {}): Config {
  const cwd = sources.cwd ?? process.cwd();
  const env = { ...readEnvFile(cwd), ...definedOnly(sources.env ?? process.env) };
  const flags = readFlags(sources.argv ?? process.argv.slice(2));
  const file = findFile(flags.config ?? env.PARLEY_CONFIG, cwd);
  const text = file === undefined ? "" : readText(file);
  const isDraft = sources.isDraft ?? false;
  const read = readSettings(text, env, isDraft);
  if (read.settings === undefined) throw toError(read.problems, file);
  const { config, problems } = assemble(read.settings, read, { env, cwd, file, role: flags.role, isDraft });
  if (problems.length > 0) throw toError(read.locate(problems), file);
  return config;
}

/** The names of all `${NAME}` variables in a settings text. */
export function variablesIn(text: string): string[] {
  return [...new Set([...text.matchAll(/(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map((match) => match[1] ?? ""))];
}

/** Checks a text that is about to become a settings file, as if every variable it names were set. Throws ConfigError. */
export function checkSettingsText(text: string, file: string): void {
  const read = readSettings(text, {}, true);
  if (read.settings === undefined) throw toError(read.problems, file);
  const { bots } = read.settings;
  const problems = checkBots({ bots: bots.map((bot) => ({ ...bot, model: bot.model ?? "demo" })) });
  if (problems.length > 0) throw toError(read.locate(problems), file);
}

/** The values that must never be printed: tokens, keys, passwords, addresses with a password in them. For the log's mask. */
export function secretsOf(config: Config): readonly string[] {
  const bots = config.bots.flatMap((bot) => [
    bot.slack?.botToken,
    bot.slack?.appToken,
    bot.slack?.signingSecret,
    bot.slack?.clientSecret,
    bot.discord?.token,
  ]);
  const providers = [
    ...Object.values(config.providers).map((provider) => provider.apiKey),
    ...Object.values(config.providerKeys),
  ];
  const servers = Object.values(config.mcp.servers).flatMap((server) => [
    ...[server.env, server.headers, server.oauth, ...Object.values(server.accounts ?? {})].flatMap((pairs) =>
      Object.values(pairs ?? {}),
    ),
  ]);
  const addresses = [config.storage.databaseUrl, config.storage.redisUrl].flatMap((url) => [url, passwordIn(url)]);
  const vault = config.storage.vaultKey.split(/[\s,]+/);
  const values = [...bots, ...providers, ...servers, ...addresses, ...vault, config.web.password];
  return [...new Set(values.filter((value) => value !== undefined && value !== ""))] as string[];
}

/** The part of the settings that the engine acts on, in its own units; what has no key in the file has its default here. */
export function toEngineSettings(config: Config): EngineSettings {
  return {
    orgId: "default",
    threads: config.threads,
    replies: { slack: config.slack.replies, discord: config.discord.replies, web: "channel" },
    access: config.access,
    limits: {
      waitMs: config.limits.waitSeconds * 1_000,
      debounceMs: config.limits.debounceMs,
      maxSteps: config.limits.maxSteps,
      turnMs: config.limits.turnMinutes * 60_000,
      ageingMs: 10 * 60_000,
      mailPerSession: 50,
      leaseMs: 15_000,
      receiptWaitMs: 5_000,
      bubblesPerTurn: 25,
      toolMs: 60_000,
      modelMs: 180_000,
      secretTtlMs: 24 * 3_600_000,
    },
    groups: { ...config.groups, patienceMs: 120_000 },
    fallbackModels: config.fallbackModels,
    ...(config.utilityModel === undefined ? {} : { utilityModel: config.utilityModel }),
    sendMessageGuidance: true,
    publicUrl: config.web.publicUrl,
    localLinks: isLoopbackHost(config.web.host),
  };
}

interface Surroundings {
  readonly env: Environment;
  readonly cwd: string;
  readonly file: string | undefined;
  readonly role: string | undefined;
  readonly isDraft: boolean;
}

/** Joins file and environment. Problems are returned beside the values so that all of them can be told at once. */
function assemble(
  settings: FileSettings,
  read: ReadSettings,
  around: Surroundings,
): { config: Config; problems: Problem[] } {
  const { env, cwd, file } = around;
  const providerKeys = findProviderKeys(env);
  const bots = chooseBots({ settings, env, providerKeys, file });
  const storage = locateStorage(settings.storage, env, cwd);
  const { model: _, ...rest } = settings;
  const config: Config = {
    ...rest,
    role: toRole(around.role),
    file,
    origin: bots.origin,
    logLevel: toLogLevel(env.PARLEY_LOG_LEVEL),
    utilityModel: settings.utilityModel,
    providerKeys,
    bots: bots.bots,
    web: {
      host: settings.web.host ?? (env.PARLEY_HOST || "127.0.0.1"),
      port: settings.web.port,
      publicUrl: settings.web.publicUrl,
      password: settings.web.password ?? env.PARLEY_PASSWORD ?? "",
    },
    storage,
    baseDir: cwd,
    gitEnv: gitEnvOf(env),
    warnings: [...bots.warnings, ...warningsOf(storage)],
  };
  if (around.isDraft) return { config, problems: checkBots(config) };
  const problems = [
    ...bots.problems,
    ...checkBots(config),
    ...checkModels(config, read.missing),
    ...checkPlaces(config),
  ];
  return { config, problems };
}

function locateStorage(storage: FileSettings["storage"], env: Environment, cwd: string): StorageConfig {
  const dir = resolve(cwd, storage.dir);
  return {
    dir,
    databaseDir: join(dir, "database"),
    filesDir: join(dir, "files"),
    workspaceDir: join(dir, "workspace"),
    pluginsDir: join(dir, "plugins"),
    databaseUrl: storage.databaseUrl ?? env.DATABASE_URL ?? "",
    redisUrl: storage.redisUrl ?? env.REDIS_URL ?? "",
    keyFile: resolve(cwd, storage.keyFile ?? join(storage.dir, "parley.key")),
    vaultKey: env.PARLEY_VAULT_KEY ?? "",
  };
}

/** Settings that are understood and not acted on yet; silence would look like a fault. */
function warningsOf(storage: StorageConfig): Warning[] {
  const unused = [
    [
      storage.redisUrl !== "" && storage.databaseUrl === "",
      "REDIS_URL is set but not used: several processes need DATABASE_URL too. This one works alone on its embedded database.",
    ],
  ] as const;
  return unused.flatMap(([applies, text]) => (applies ? [text] : []));
}

function findProviderKeys(env: Environment): Partial<Record<BuiltInProvider, string>> {
  const found = Object.entries(BUILT_IN_PROVIDERS).map(
    ([name, variables]) => [name, variables.map((variable) => env[variable]).find(Boolean)] as const,
  );
  return Object.fromEntries(found.filter(([, key]) => key !== undefined));
}

/** What git and ssh need of the environment to reach a repository; tokens and keys of this service are not among it. */
function gitEnvOf(env: Environment): Readonly<Record<string, string>> {
  const names = [
    "PATH",
    "HOME",
    "SSH_AUTH_SOCK",
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
  ];
  return definedOnly(Object.fromEntries(names.map((name) => [name, env[name]])));
}

function readFlags(argv: readonly string[]): { config: string | undefined; role: string | undefined } {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { config: { type: "string" }, role: { type: "string" } },
    });
    return { config: values.config, role: values.role };
  } catch (error) {
    const what = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ConfigError(`Command line: ${what} Known here: --config FILE, --role all|gateway|worker.`, {
      cause: error,
    });
  }
}

function toRole(role: string | undefined): ProcessRole {
  if (role === undefined || role === "all" || role === "gateway" || role === "worker") return role ?? "all";
  throw new ConfigError("--role: expected one of: all, gateway, worker.");
}

function toLogLevel(level: string | undefined): LogLevel {
  if (!level) return "info";
  if (level === "debug" || level === "info" || level === "warn" || level === "error") return level;
  throw new ConfigError("PARLEY_LOG_LEVEL: expected one of: debug, info, warn, error.");
}

function findFile(named: string | undefined, cwd: string): string | undefined {
  if (named) {
    const file = resolve(cwd, named);
    if (existsSync(file)) return file;
    throw new ConfigError(
      `The settings file ${file} does not exist. Check --config or PARLEY_CONFIG, or make one with: npx parley init`,
    );
  }
  return ["parley.yaml", "parley.yml"].map((name) => join(cwd, name)).find((file) => existsSync(file));
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`The file ${file} cannot be read. Check that it is a file and that this user may read it.`, {
      cause: error,
    });
  }
}

/** Variables of `.env` in the folder. What is set in the environment already wins, even when it is set to nothing. */
function readEnvFile(cwd: string): Record<string, string> {
  const file = join(cwd, ".env");
  return existsSync(file) ? parseEnvText(readText(file)) : {};
}

function definedOnly(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) as Record<string, string>;
}

function passwordIn(url: string): string {
  if (!URL.canParse(url)) return "";
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    // A stray % is part of the password as written.
    return password;
  }
}
