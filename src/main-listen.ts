/** Starts the web server of this process with what it tells: routes of adapters and connectors, health, and how ready everything is (SPEC O1, O5). */
import type { Config } from "./config.ts";
import { ConfigError, type Engine, type Log, type SkillLibrary, type Store } from "./engine/index.ts";
import { createStatusRoute } from "./main-status.ts";
import { startWebServer, type WebServer } from "./main-web.ts";
import type { ServedMetrics } from "./metrics.ts";
import type { ConnectorSet } from "./tools/index.ts";

/** What the web server tells, as it comes to be known. */
export interface WebState {
  /** True once every bot has connected or definitely failed. */
  settled: boolean;
  port?: number;
}

/** What is served. */
export interface ListenParts {
  readonly engine: Engine;
  readonly connectors: ConnectorSet;
  readonly skills: SkillLibrary;
  readonly store: Store;
  readonly state: WebState;
  readonly metrics: ServedMetrics;
  readonly log: Log;
}

/** Listens; throws ConfigError when the port is taken. */
export async function startListening(config: Config, parts: ListenParts): Promise<WebServer> {
  const { engine, connectors, skills, store, state, metrics, log } = parts;
  const { host, port, password } = config.web;
  const names = new Map(config.bots.map((bot) => [bot.id, bot.name]));
  const status = createStatusRoute({
    bots: () => engine.health(),
    botName: (botId) => names.get(botId) ?? botId,
    connectors: () => sharedOnly(connectors),
    skills: () => skillsHealth(skills),
  });
  try {
    return await startWebServer({
      host,
      port,
      password,
      // A worker tells only how it is; people and platforms are served by gateways.
      routes: () => (config.role === "worker" ? [] : [...engine.routes, ...connectors.routes, status]),
      log,
      metrics: () => metrics.render(),
      health: () => healthOf(store),
      readiness: () => ({
        ready: state.settled,
        body: {
          status: state.settled ? "ready" : "starting",
          bots: engine.health(),
          skills: skillsHealth(skills),
          connectors: sharedOnly(connectors),
        },
      }),
    });
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "EADDRINUSE") throw error;
    throw new ConfigError(
      `web.port: port ${port} on ${host} is already in use. Stop what uses it, or set web.port to another number.`,
      { cause: error },
    );
  }
}

/** How many skills all bots share, and what is wrong with others. */
function skillsHealth(skills: SkillLibrary) {
  return { known: skills.list("").length, problems: skills.problems() };
}

/** Connectors of everybody: who has signed in where is nobody else's business. */
function sharedOnly({ connections }: ConnectorSet) {
  return connections.health().filter(({ connector }) => !connector.includes("@"));
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
