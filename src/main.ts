/**
 * Starts and stops everything; the only place where parts are joined (DESIGN §2). Reads the settings, opens the store, connects every bot to its platforms,
 * serves the web, and on SIGTERM drains within 10 s. A failing bot never stops the others.
 */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type Config, type ConfigSources, loadConfig, secretsOf, toEngineSettings } from "./config.ts";
import {
  type Bot,
  ConfigError,
  createBullmqRunQueue,
  createDemoFiles,
  createEngine,
  createFolderBlobs,
  createGuardedFetch,
  createLocalRunQueue,
  createMask,
  createModels,
  createSkills,
  createSystemClock,
  createVaultCipher,
  type Engine,
  type Log,
  loadVaultKey,
  openStore,
  type RunQueue,
  type SkillLibrary,
  type Store,
} from "./engine/index.ts";
import { createLog } from "./log.ts";
import { type Accounts, createAccounts } from "./main-accounts.ts";
import { createMainConnectors, followPluginServers } from "./main-connectors.ts";
import { startListening, type WebState } from "./main-listen.ts";
import { syncPlugins } from "./main-plugins.ts";
import type { WebServer } from "./main-web.ts";
import { createMetrics, type ServedMetrics } from "./metrics.ts";
import { type ConnectorSet, tools } from "./tools/index.ts";

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
    const queue = await openQueue(config, opened.store, { clock, log });
    let accounts: Accounts | undefined;
    const onBotChanged = (bot: Bot) => void accounts?.attach(bot);
    const state: WebState = { settled: false };
    const skills = createSkills({ ...config.storage, log });
    await skills.refresh();
    const services: Services = { clock, log, metrics, queue, skills, onBotChanged };
    const { engine, connectors } = await assemble(config, opened.store, state, services);
    accounts = createAccounts(config, engine, log);
    vaultMask = engine.mask;
    const web = await startListening(config, { ...services, engine, connectors, store: opened.store, state });
    state.port = web.port;
    metrics.watchBots(() =>
      engine.health().map(({ botId, platform, state }) => ({ botId, platform, connected: state === "connected" })),
    );
    const bots = await engine.syncBots(
      config.bots.map(({ id, name, role, model, lanes }) => ({ id, name, role, model, lanes })),
    );
    await engine.run();
    // In the background: no bot waits for a server (SPEC P2). A gateway runs no turns and needs none.
    const following = followPluginServers(config, { connections: connectors.connections, clock, log });
    if (config.role !== "gateway") void following.ready.then(() => connectors.connections.start());
    const connecting = accounts.connect(bots).then(() => {
      state.settled = true;
    });
    const syncing = syncPlugins(config, log);
    const url = `http://${config.web.host}:${web.port}`;
    const { role, origin } = config;
    log.info({ url, role, database: opened.kind, bots: bots.map((bot) => bot.id), origin }, "ready");
    const stop = async () => {
      await Promise.all([syncing.stop(), following.stop()]);
      await stopAll({ engine, connectors, web, close: opened.close, connecting, log });
    };
    return { port: web.port, url, stop };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface Services {
  readonly clock: ReturnType<typeof createSystemClock>;
  readonly log: Log;
  readonly metrics: ServedMetrics;
  readonly queue: RunQueue;
  readonly skills: SkillLibrary;
  readonly onBotChanged: (bot: Bot) => void;
}

async function assemble(
  config: Config,
  store: Store,
  state: WebState,
  services: Services,
): Promise<{ readonly engine: Engine; readonly connectors: ConnectorSet }> {
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
  const cipher = createVaultCipher(keys);
  let made: Engine | undefined;
  const { orgId } = settings;
  const around = { engine: () => made, port: () => state.port };
  const connectors = createMainConnectors(config, { ...services, ...around, store, cipher, models, orgId });
  made = createEngine({
    ...services,
    store,
    blobs,
    models,
    tools: [...tools, ...connectors.tools],
    connectors: connectors.connections,
    settings,
    files: {
      roots: [{ path: storage.workspaceDir, seenAs: "/workspace" }, { path: storage.workspaceDir }],
      secretPaths: [storage.keyFile, storage.databaseDir, ...(config.file ? [config.file] : [])],
    },
    guardedFetch: createGuardedFetch({ allowPrivateHosts: config.net.allowPrivateHosts, log }),
    cipher,
    role: config.role,
    isShared: isShared(config),
    owner: `${hostname()}:${process.pid}:${randomBytes(4).toString("hex")}`,
  });
  return { engine: made, connectors };
}

/** Several processes may share the work when both servers are named (SPEC O1). */
function isShared({ storage }: Config): boolean {
  return storage.databaseUrl !== "" && storage.redisUrl !== "";
}

/** Rings travel inside this process, or through Redis under keys that belong to this database alone. */
async function openQueue(config: Config, store: Store, parts: Pick<Services, "clock" | "log">): Promise<RunQueue> {
  if (!isShared(config)) return createLocalRunQueue(parts);
  const values = store.keyValues("parley");
  await values.insert("installation", randomBytes(8).toString("hex"));
  const installation = String(await values.get("installation"));
  return createBullmqRunQueue({ ...parts, redisUrl: config.storage.redisUrl, prefix: `parley-${installation}` });
}

async function stopAll(parts: {
  readonly engine: Engine;
  readonly connectors: ConnectorSet;
  readonly web: WebServer;
  readonly close: () => Promise<void>;
  readonly connecting: Promise<void>;
  readonly log: Log;
}): Promise<void> {
  parts.log.info({}, "stopping");
  await parts.engine.stop(DRAIN_MS);
  await parts.connectors.connections.stop();
  await parts.web.close();
  await parts.close();
  parts.log.info({}, "stopped");
}
