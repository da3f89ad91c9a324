/** Makes the connectors of this process out of settings, store and vault; a gateway has them for the browser's way back only, and opens no server. */
import type { Config } from "./config.ts";
import {
  type Clock,
  createConnectorSecrets,
  type Engine,
  type Log,
  type Models,
  type Store,
  type VaultCipher,
} from "./engine/index.ts";
import { type ConnectorDefinition, type ConnectorSet, createConnectors } from "./tools/index.ts";

/** What connectors need of the rest. */
export interface MainConnectorParts {
  readonly store: Store;
  readonly cipher: VaultCipher;
  readonly models: Models;
  readonly orgId: string;
  /** Definitions that come with plugins. */
  readonly more?: readonly ConnectorDefinition[];
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
    more: parts.more ?? [],
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
