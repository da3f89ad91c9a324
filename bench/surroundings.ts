/**
 * What the measured processes live in: an emulated Slack workspace and language model, a folder with settings, and, where a server answers, a
 * PostgreSQL database of their own. Everything is removed at the end. The emulators' work is the same for every contender.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Llm, type Script, startLlm } from "../test/emulators/llm/index.ts";
import { type App, type Slack, startSlack } from "../test/emulators/slack/index.ts";
import { echo } from "../test/support/scripts.ts";
import { type Child, startChild } from "./children.ts";

/** A workspace and a model. */
export interface Surroundings {
  readonly slack: Slack;
  readonly llm: Llm;
  close(): Promise<void>;
}

/** Starts both; the model says back what it heard, at once, unless a script is given. Nothing is delivered twice for being slow. */
export async function startSurroundings(script: Script = echo): Promise<Surroundings> {
  const slack = await startSlack({ ackTimeoutMs: 60_000 });
  const llm = await startLlm({ fallback: script });
  return {
    slack,
    llm,
    async close() {
      await Promise.all([slack.close(), llm.close()]);
    },
  };
}

/** A product with its folder. */
export interface Product extends Child {
  /** Address of its web server. */
  readonly url: string;
  /** Milliseconds from its start until every bot was connected. */
  readonly readyAt: number;
}

/** Which bots, and where the data goes ("" = embedded). */
export interface ProductOptions {
  readonly folder: string;
  readonly apps: readonly App[];
  readonly databaseUrl?: string;
  /** More of the settings file, block by block. */
  readonly settings?: Readonly<Record<string, object>>;
}

/** A temporary folder and its removal. */
export function newFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "parley-bench-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Starts the built product for these apps and waits until all of them are connected. */
export async function startProduct({ slack, llm }: Surroundings, options: ProductOptions): Promise<Product> {
  const { folder, apps, databaseUrl = "", settings: more = {} } = options;
  const settings = {
    model: "local/any",
    providers: { local: { kind: "openai-compatible", baseURL: llm.openaiUrl, apiKey: "any", contextWindow: 128_000 } },
    bots: apps.map((app) => ({
      id: app.name.toLowerCase(),
      name: app.name,
      role: `${app.name} is measured.`,
      model: `local/${app.name.toLowerCase()}`,
      lanes: 16,
      slack: credentialsOf(app),
    })),
    ...more,
    slack: { apiUrl: slack.apiUrl, ...more.slack },
    web: { port: 0 },
  };
  writeFileSync(join(folder, "parley.yaml"), JSON.stringify(settings));
  const env = { PARLEY_LOG_LEVEL: "info", ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}) };
  const child = startChild({ script: "product-child.mjs", cwd: folder, env });
  const { match } = await child.line(/"url":"([^"]+)".*"msg":"ready"/);
  const url = match[1] ?? "";
  for (const app of apps) {
    if (app.mode === "http") app.requestUrl = `${url}/slack/${app.name.toLowerCase()}/events`;
  }
  await untilReady(url);
  return { ...child, url, readyAt: child.age() };
}

async function untilReady(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/readyz`);
    const body = await answer.text();
    if (answer.ok) {
      if (/"state":"(?!connected)/.test(body)) throw new Error(`a bot is not connected: ${body}`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function credentialsOf(app: App): Record<string, string> {
  return app.mode === "http"
    ? { botToken: app.botToken, signingSecret: app.signingSecret }
    : { botToken: app.botToken, appToken: app.appToken };
}

/** Starts the Bolt echo for these apps and waits until all of them listen. */
export async function startEcho(slack: Slack, apps: readonly App[]): Promise<Child> {
  const accounts = apps.map((app) => ({ id: app.name, ...credentialsOf(app) }));
  const env = { ECHO_APPS: JSON.stringify({ apiUrl: slack.apiUrl, apps: accounts }) };
  const child = startChild({ script: "echo-child.mjs", env });
  const { match } = await child.line(/"msg":"ready","ports":(\{.*\})\}/);
  const ports = JSON.parse(match[1] ?? "{}") as Record<string, number>;
  for (const app of apps) {
    if (app.mode === "http") app.requestUrl = `http://127.0.0.1:${ports[app.name]}/slack/events`;
    else await slack.waitForSocket(app);
  }
  return child;
}

const SERVER = process.env.BENCH_DATABASE_URL ?? "postgresql://postgres@localhost:5432/postgres";

/** A database of its own on the server in BENCH_DATABASE_URL (default: localhost, no password); null when none answers. */
export async function newServerDatabase(): Promise<{ readonly url: string; drop(): Promise<unknown> } | null> {
  const name = `parley_bench_${process.pid}`;
  try {
    await dropAbandoned();
    await onServer(`CREATE DATABASE ${name}`);
  } catch {
    // No server, or none that lets us in, is an ordinary case; the table then says so.
    return null;
  }
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** A run that was cut off leaves its database behind. */
async function dropAbandoned(): Promise<void> {
  const found = await onServer(`
    SELECT datname FROM pg_database d WHERE datname ~ '^parley_bench_[0-9]+$'
      AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datname = d.datname)`);
  for (const { datname } of found) {
    if (!isRunning(Number(datname.slice("parley_bench_".length)))) await onServer(`DROP DATABASE IF EXISTS ${datname}`);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // There is no such process, which is the answer.
    return false;
  }
}

async function onServer(statement: string): Promise<readonly { readonly datname: string }[]> {
  const client = new pg.Client({ connectionString: SERVER, connectionTimeoutMillis: 2000 });
  await client.connect();
  const { rows } = await client.query<{ datname: string }>(statement).finally(() => client.end());
  return rows;
}
