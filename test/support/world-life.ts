/**
 * The starts, stops and crashes of one product over one folder, its log lines and its rows. Invariant: at most one product runs, and looking at rows
 * never keeps a stopped one's connection.
 */
import { join } from "node:path";
import type { Slack } from "../emulators/slack/index.ts";
import { type Database, openDatabase } from "./database.ts";
import { type Product, type Starting, startApart, startInside } from "./product.ts";

/** What its life depends on. */
export interface LifeOptions {
  readonly process?: "inside" | "own";
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly args?: readonly string[];
}

/** See `createLife`. */
export type Life = ReturnType<typeof createLife>;

/** A product that is not started yet. */
export function createLife(options: LifeOptions, folder: string, slack: Slack) {
  const logs: string[] = [];
  const env = { PARLEY_LOG_LEVEL: "debug", ...options.env };
  let product: Product | undefined;
  let starting: Starting | undefined;
  let database: Database | undefined;
  const leave = async (end: (product: Product) => Promise<void>) => {
    await database?.close();
    database = undefined;
    const ending = product;
    product = undefined;
    if (ending) await end(ending);
  };
  return {
    logs,
    url: () => product?.url ?? "",
    async start() {
      const how = { folder, env, logs, args: options.args ?? [] };
      starting = options.process === "own" ? startApart(how) : undefined;
      product = await (starting?.ready ?? startInside(how));
      for (const app of slack.workspace.apps) {
        if (app.mode === "http") app.requestUrl = `${product.url}/slack/${app.name.toLowerCase()}/events`;
      }
    },
    stop: () => leave((ending) => ending.stop()),
    async crash() {
      await leave((ending) => ending.kill());
      await starting?.kill();
    },
    database(): Database {
      database ??= openDatabase({ url: databaseUrlOf(options), folder: join(folder, "data", "database") }) ?? undefined;
      if (!database) throw new Error("the product is not running");
      return database;
    },
  };
}

function databaseUrlOf({ settings, env }: LifeOptions): string {
  const storage = settings?.storage as { databaseUrl?: string } | undefined;
  return storage?.databaseUrl ?? env?.DATABASE_URL ?? "";
}
