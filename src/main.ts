/**
 * Starts and stops everything; the only place where parts are joined (DESIGN §2). Reads the settings, opens the store, connects every bot to its platforms,
 * serves the web, and on SIGTERM drains within 10 s. A failing bot never stops the others.
 */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { adapters, type Platform } from "./adapters/index.ts";
import { type BotConfig, type Config, type ConfigSources, loadConfig, secretsOf, toEngineSettings } from "./config.ts";
import {
  type Adapter,
  type AdapterAccount,
  ConfigError,
  createDemoFiles,
  createEngine,
  createFolderBlobs,
  createGuardedFetch,
  createLocalRunQueue,
  createMask,
  createModels,
  createSystemClock,
  createVaultCipher,
  type Engine,
  type Log,
  loadVaultKey,
  openStore,
} from "./engine/index.ts";
import { createLog } from "./log.ts";
import { startWebServer, type WebServer } from "./main-web.ts";
import { createMetrics, type ServedMetrics } from "./metrics.ts";
import { tools } from "./tools/index.ts";

const DRAIN_MS = 5000;
const STOP_LIMIT_MS = 9500;

/** A started product. */
export interface Running {
  readonly port: number;
  readonly url: string;
  /** Drains and closes; resolves within 10 s. */
  stop(): Promise<void>;
}

/** Where the settings are, and who takes the log's lines (default: standard output). */
export interface StartOptions extends ConfigSources {
  readonly writeLog?: (line: string) => void;
}

/** The program: runs until a signal. Start-up problems are printed for a person and end it with code 1. */
export async function main(argv: readonly string[]): Promise<void> {
  let running: Running | undefined;
  try {
    running = await start({ argv });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    // Something half open (a port, a database thread) must not keep a failed start alive.
    setTimeout(() => process.exit(1), 200).unref();
    return;
  }
  const { stop } = running;
  let stopping = false;
  const onSignal = () => {
    if (stopping) process.exit(0);
    stopping = true;
    setTimeout(() => process.exit(0), STOP_LIMIT_MS).unref();
    void stop().finally(() => process.exit(0));
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

/** Starts the product in this process. Throws ConfigError for everything the operator can mend. */
export async function start(options: StartOptions = {}): Promise<Running> {
  const config = loadConfig(options);
  const clock = createSystemClock();
  const settingsMask = createMask(secretsOf(config));
  let vaultMask: (text: string) => string = (text) => text;
  const log = createLog({
    level: config.logLevel,
    mask: (text) => vaultMask(settingsMask(text)),
    ...(options.writeLog ? { write: options.writeLog } : {}),
  });
  for (const warning of config.warnings) log.warn({}, warning);
  const metrics = createMetrics({ processDefaults: true });
  await mkdir(config.storage.workspaceDir, { recursive: true });
  const onFatal = (error: Error) => {
    log.error({ error: error.message }, "the embedded database died; ending");
    process.exit(1);
  };
  const { storage } = config;
  const opened = await openStore({ databaseUrl: storage.databaseUrl, directory: storage.databaseDir, log, onFatal });
  try {
    const engine = await assemble(config, opened.store, { clock, log, metrics });
    vaultMask = engine.mask;
    const state = { settled: false };
    const web = await listen(config, engine, opened.store, state, { log, metrics });
    metrics.watchBots(() =>
      engine.health().map(({ botId, platform, state }) => ({ botId, platform, connected: state === "connected" })),
    );
    await engine.syncBots(config.bots.map(({ id, name, role, model, lanes }) => ({ id, name, role, model, lanes })));
    await engine.run();
    const connecting = connectAll(config, engine, log).then(() => {
      state.settled = true;
    });
    const url = `http://${config.web.host}:${web.port}`;
    log.info({ url, database: opened.kind, bots: config.bots.map((bot) => bot.id), origin: config.origin }, "ready");
    return { port: web.port, url, stop: () => stopAll({ engine, web, close: opened.close, connecting, log }) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface Services {
  readonly clock: ReturnType<typeof createSystemClock>;
  readonly log: Log;
  readonly metrics: ServedMetrics;
}

type Store = Awaited<ReturnType<typeof openStore>>["store"];

async function assemble(config: Config, store: Store, services: Services): Promise<Engine> {
  const { clock, log } = services;
  const { storage } = config;
  const settings = toEngineSettings(config);
  const blobs = await createFolderBlobs({ dir: storage.filesDir });
  const keys = await loadVaultKey({
    keyFile: storage.keyFile,
    ...(storage.vaultKey ? { envKey: storage.vaultKey } : {}),
  });
  const models = createModels({
    providers: config.providers,
    keys: config.providerKeys,
    defaultModel: config.bots[0]?.model ?? "demo",
    fallbackModels: config.fallbackModels,
    readImage: async (file) => {
      const opened = await blobs.open(file);
      return opened ? buffer(opened.stream) : null;
    },
    clock,
    log,
    modelMs: settings.limits.modelMs,
    demoFiles: await createDemoFiles(join(storage.workspaceDir, "demo")),
    demoPaceMs: 700,
  });
  return createEngine({
    ...services,
    store,
    blobs,
    models,
    tools,
    settings,
    files: {
      roots: [{ path: storage.workspaceDir, seenAs: "/workspace" }, { path: storage.workspaceDir }],
      secretPaths: [storage.keyFile, storage.databaseDir, ...(config.file ? [config.file] : [])],
    },
    guardedFetch: createGuardedFetch({ allowPrivateHosts: config.net.allowPrivateHosts, log }),
    cipher: createVaultCipher(keys),
    queue: createLocalRunQueue({ clock, log }),
    owner: `${hostname()}:${process.pid}:${randomBytes(4).toString("hex")}`,
  });
}

async function listen(
  config: Config,
  engine: Engine,
  store: Store,
  state: { readonly settled: boolean },
  services: Pick<Services, "log" | "metrics">,
): Promise<WebServer> {
  const { host, port, password } = config.web;
  try {
    return await startWebServer({
      host,
      port,
      password,
      routes: () => engine.routes,
      log: services.log,
      metrics: () => services.metrics.render(),
      health: () => healthOf(store),
      readiness: () => ({
        ready: state.settled,
        body: { status: state.settled ? "ready" : "starting", bots: engine.health() },
      }),
    });
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "EADDRINUSE") throw error;
    throw new ConfigError(
      `web.port: port ${port} on ${host} is already in use. Stop what uses it, or set web.port to another number.`,
      {
        cause: error,
      },
    );
  }
}

async function healthOf(store: Store): Promise<Readonly<Record<string, unknown>>> {
  try {
    await store.ping();
    return { status: "ok", database: "ok", uptimeSeconds: Math.round(process.uptime()) };
  } catch {
    // The reason is in the log of whoever tried to store something; health says only that it does not work.
    return { status: "failing", database: "not reachable" };
  }
}

/** Connects every bot to the playground and to each platform it has an account on; one that fails does not hold up the rest. */
async function connectAll(config: Config, engine: Engine, log: Log): Promise<void> {
  const made = new Map<Platform, Promise<Adapter>>();
  const adapterOf = (platform: Platform) => {
    const adapter = made.get(platform) ?? adapters[platform]({ slack: config.slack, discord: config.discord });
    made.set(platform, adapter);
    return adapter;
  };
  const accounts = config.bots.flatMap(accountsOf);
  await Promise.all(
    accounts.map(async ({ platform, account }) => {
      try {
        await engine.connect(await adapterOf(platform), account);
      } catch (error) {
        log.error(
          { botId: account.botId, platform, error: String(error) },
          "bot could not be started on this platform",
        );
      }
    }),
  );
}

function accountsOf(bot: BotConfig): { platform: Platform; account: AdapterAccount }[] {
  const account = { botId: bot.id, name: bot.name, role: bot.role, model: bot.model };
  return [
    { platform: "web", account: { ...account, settings: {} } },
    ...(bot.slack ? [{ platform: "slack" as const, account: { ...account, settings: bot.slack } }] : []),
    ...(bot.discord ? [{ platform: "discord" as const, account: { ...account, settings: bot.discord } }] : []),
  ];
}

async function stopAll(parts: {
  readonly engine: Engine;
  readonly web: WebServer;
  readonly close: () => Promise<void>;
  readonly connecting: Promise<void>;
  readonly log: Log;
}): Promise<void> {
  parts.log.info({}, "stopping");
  await parts.engine.stop(DRAIN_MS);
  await parts.web.close();
  await parts.close();
  parts.log.info({}, "stopped");
}
