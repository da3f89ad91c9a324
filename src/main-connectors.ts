/** Makes the connectors of this process out of settings, store and vault; a gateway has them for the browser's way back only, and opens no server. */
import type { Config } from "./config.ts";
import {
  type Clock,
  createConnectorSecrets,
  type Engine,
  type Log,
  listPluginServers,
  type Models,
  type PluginServer,
  printOfPlugins,
  type Store,
  type VaultCipher,
} from "./engine/index.ts";
import { type ConnectorSet, createConnectors, readServersFile } from "./tools/index.ts";

/** What connectors need of the rest. */
export interface MainConnectorParts {
  readonly store: Store;
  readonly cipher: VaultCipher;
  readonly models: Models;
  readonly orgId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Read when it is needed: the engine is made with the connectors. */
  readonly engine: () => Engine | undefined;
  /** Port the web server listens on, once it does. */
  readonly port: () => number | undefined;
}

/** The connectors, not started. */
export function createMainConnectors(config: Config, parts: MainConnectorParts): ConnectorSet {
  const { store, cipher, models, orgId, clock, log } = parts;
  return createConnectors({
    servers: config.mcp.servers,
    kv: store.keyValues("connectors"),
    secrets: createConnectorSecrets({ store, cipher, orgId, admins: config.access.admins }),
    allowPrivateHosts: config.net.allowPrivateHosts,
    baseUrl: () => baseUrlOf(config, parts.port()),
    receive: async (event) => {
      const engine = parts.engine();
      return engine ? engine.receive(event) : { status: "refused", reason: "Not started yet." };
    },
    onSecrets: () => {
      const told = parts.engine()?.refreshSecrets();
      told?.catch((error: unknown) => log.warn({ error: String(error) }, "what must be masked is read later"));
    },
    samplingModel: () => models.get(config.utilityModel ?? config.bots[0]?.model ?? "demo"),
    clock,
    log: log.child({ part: "connectors" }),
  });
}

/** Where browsers come back to: the public address, or this machine's own for people who sit at it. */
function baseUrlOf({ web }: Config, port: number | undefined): string {
  if (web.publicUrl) return web.publicUrl;
  const isHere = ["127.0.0.1", "localhost", "::1"].includes(web.host);
  return isHere && port ? `http://127.0.0.1:${port}` : "";
}

/** How often installed plugins are looked at, ms. */
const LOOK_MS = 3_000;

/**
 * Keeps the servers of plugins that the operator has enabled (`parley plugin enable`) among the connectors while the process runs. A name that the
 * settings or another plugin uses already stays theirs, and that is said once. `ready` resolves after the first look.
 */
export function followPluginServers(
  config: Config,
  parts: { readonly connections: ConnectorSet["connections"]; readonly clock: Clock; readonly log: Log },
): { readonly ready: Promise<void>; stop(): Promise<void> } {
  const ending = new AbortController();
  const known = new Map<string, string>();
  let seen = "";
  const look = async () => {
    seen = await lookAtPlugins(config.storage.pluginsDir, { known, seen }, parts);
  };
  if (config.role === "gateway") return { ready: Promise.resolve(), stop: () => Promise.resolve() };
  const ready = look();
  const work = ready.then(async () => {
    while (!ending.signal.aborted) {
      await parts.clock.delay(LOOK_MS, ending.signal);
      if (!ending.signal.aborted) await look();
    }
  });
  return {
    ready,
    stop() {
      ending.abort();
      return work;
    },
  };
}

/** `known`: the definitions of each plugin as they were last taken over; `seen`: what was installed then, returned anew. Never rejects. */
async function lookAtPlugins(
  dir: string,
  { known, seen }: { readonly known: Map<string, string>; readonly seen: string },
  { connections, log }: { readonly connections: ConnectorSet["connections"]; readonly log: Log },
): Promise<string> {
  try {
    const installed = await printOfPlugins(dir);
    if (installed === seen) return seen;
    const servers = (await listPluginServers(dir)).filter(({ enabled }) => enabled);
    for (const plugin of new Set([...known.keys(), ...servers.map((server) => server.plugin)])) {
      const own = servers.filter((server) => server.plugin === plugin);
      const print = JSON.stringify(own);
      if (known.get(plugin) === print) continue;
      if (known.has(plugin)) await connections.remove(plugin);
      if (own.length > 0) known.set(plugin, print);
      else known.delete(plugin);
      takeOver(plugin, own, connections, log);
    }
    return installed;
  } catch (error) {
    log.warn({ error: error instanceof Error ? error.message : String(error) }, "plugins' servers not looked at");
    return seen;
  }
}

function takeOver(
  plugin: string,
  servers: readonly PluginServer[],
  connections: ConnectorSet["connections"],
  log: Log,
): void {
  const named = Object.fromEntries(servers.map(({ name, definition }) => [name, definition]));
  const { definitions, problems } = readServersFile(named, plugin);
  // The operator's own word counts like the settings file's; without it they would not be here.
  const added = connections.add(definitions.map((definition) => ({ ...definition, isEnabled: true })));
  for (const { id } of definitions.filter((definition) => !added.includes(definition.id)))
    log.warn({ plugin, connector: id }, "a plugin's server is not used: another connector has its name");
  for (const problem of problems) log.warn({ plugin }, problem);
}
