/**
 * Two worker processes share many bots on one PostgreSQL and one Redis while everything around them breaks: each worker is killed, Redis is emptied and
 * killed. Afterwards the rows are counted: every message answered exactly once, in the order of its conversation, never two turns of a session at a time.
 * Used by a test (small) and by the bench (2,000 messages over 200 bots).
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock } from "../../src/engine/clock.ts";
import { audienceOf, type ConversationRef, conversationKey } from "../../src/engine/conversation.ts";
import { createBullmqRunQueue } from "../../src/engine/queue/bullmq-run-queue.ts";
import type { RunQueue } from "../../src/engine/queue/run-queue.ts";
import { openStore } from "../../src/engine/store/open-store.ts";
import type { Store } from "../../src/engine/store/store.ts";
import { startLlm } from "../emulators/llm/index.ts";
import { pause } from "../emulators/loopback.ts";
import { silentLog } from "../engine/store/silent-log.ts";
import { type Database, OPEN_WORK, openDatabase } from "./database.ts";
import { type Product, type Starting, startApart } from "./product.ts";
import type { OwnRedis } from "./redis.ts";
import { answering } from "./scripts.ts";

/** How much, and on what. */
export interface ChaosOptions {
  readonly messages: number;
  readonly bots: number;
  readonly databaseUrl: string;
  readonly redis: OwnRedis;
  readonly onEvent?: (what: string) => void;
}

/** What the rows say afterwards; everything but `messages` and `turnsTakenUp` should be 0. */
export interface ChaosTally {
  readonly messages: number;
  readonly unanswered: number;
  readonly doubled: number;
  readonly outOfOrder: number;
  readonly overlaps: number;
  readonly stuck: number;
  readonly turnsTakenUp: number;
}

/** How long the rest may take after everything was broken, for each message; a turn is two model calls and a dozen commits. */
const FINISH_MS_EACH = 500;
/** Mail keeps coming while things break. */
const WRITING_MS = 12_000;

/** Runs it; ends everything it started. */
export async function runQueueChaos(options: ChaosOptions): Promise<ChaosTally> {
  const folder = mkdtempSync(join(tmpdir(), "parley-chaos-"));
  const answer = answering((words) => `You said: ${words}`);
  const llm = await startLlm({ fallback: async (request) => ({ ...(await answer(request)), delayMs: 150 }) });
  const ids = Array.from({ length: options.bots }, (_bot, at) => `b${at}`);
  writeFileSync(join(folder, "parley.yaml"), JSON.stringify(settingsFor(ids, llm.openaiUrl)));
  const env = { DATABASE_URL: options.databaseUrl, REDIS_URL: options.redis.url };
  const logs: string[] = [];
  const started: Starting[] = [];
  const startWorker = () => {
    const starting = startApart({ folder, env, logs, args: ["--role", "worker"] });
    started.push(starting);
    return starting.ready;
  };
  const workers: Product[] = [await startWorker(), await startWorker()];
  const opened = await openStore({
    databaseUrl: env.DATABASE_URL,
    directory: "",
    log: silentLog,
    onFatal: () => undefined,
  });
  const database = openDatabase({ url: options.databaseUrl, folder: "" });
  try {
    if (!database) throw new Error("no database");
    await Promise.all([writeMail(opened.store, ids, options), breakThings(options, workers, startWorker)]);
    await untilFinished(database, options.messages, logs);
    return await tally(database, options.messages);
  } finally {
    await Promise.all(started.map((one) => one.kill()));
    await Promise.all([opened.close(), database?.close(), llm.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function settingsFor(ids: readonly string[], baseURL: string): object {
  return {
    providers: { local: { kind: "openai-compatible", baseURL, apiKey: "any", contextWindow: 128_000 } },
    bots: ids.map((id) => ({ id, name: `Bot ${id}`, role: "Answers.", model: "local/any" })),
    web: { port: 0 },
  };
}

/** Messages of many people, each its own turn, spread over time so that something is always under way. */
async function writeMail(store: Store, ids: readonly string[], options: ChaosOptions): Promise<void> {
  const installations = new Map((await store.listInstallations()).map((item) => [item.botId, item.id]));
  const values = store.keyValues("parley");
  const prefix = `parley-${String(await values.get("installation"))}`;
  const parts = { clock: createSystemClock(), log: silentLog, redisUrl: options.redis.url, prefix };
  const queue = await createBullmqRunQueue(parts);
  for (let n = 0; n < options.messages; n += 1) {
    const botId = ids[n % ids.length] ?? "";
    await takeIn(store, queue, { n, botId, installationId: installations.get(botId) ?? "" });
    if (n % 10 === 9) await pause(WRITING_MS / (options.messages / 10));
  }
  await queue.close(1000);
}

async function takeIn(
  store: Store,
  queue: RunQueue,
  item: { readonly n: number; readonly botId: string; readonly installationId: string },
): Promise<void> {
  const { n, botId, installationId } = item;
  // Two conversations for each bot, so that sessions of one bot compete too.
  const reader = `u${String(n % 3 === 0 ? 1 : 2).padStart(12, "0")}`;
  const channelId = `dm.${botId}.${reader}`;
  const ref: ConversationRef = { platform: "web", workspaceId: "local", kind: "direct", channelId };
  const key = conversationKey(ref);
  const from = { id: `web:local:p${n}`, platformId: `p${n}`, name: `Person ${n}`, kind: "member" as const };
  const at = new Date();
  const result = await store.takeIn({
    dedupeKey: `chaos:${n}`,
    outcome: "stored",
    ref,
    conversationKey: key,
    person: from,
    entry: {
      author: { kind: "person", id: from.id, name: from.name },
      kind: "message",
      platformId: `m${n}`,
      at,
      text: `message ${n}`,
      body: {},
      files: [],
    },
    wake: [
      {
        botId,
        installationId,
        mail: {
          kind: "person",
          body: { type: "message", role: "member" },
          authorId: from.id,
          authorName: from.name,
          route: `${key}|${installationId}`,
          audience: audienceOf(ref, from.id),
          hops: 0,
          orderAt: at,
        },
      },
    ],
    mailLimit: 1000,
  });
  if (result.status === "stored") for (const { sessionId, rank } of result.woken) queue.ring(sessionId, rank);
}

async function breakThings(
  { redis, onEvent }: ChaosOptions,
  workers: Product[],
  startWorker: () => Promise<Product>,
): Promise<void> {
  const say = (what: string) => onEvent?.(what);
  for (const at of [0, 1]) {
    await pause(700);
    await workers[at]?.kill();
    say(`kill -9 of worker ${at + 1}`);
    workers[at] = await startWorker();
    say(`worker ${at + 1} is back`);
    if (at === 0) {
      await redis.flush();
      say("FLUSHALL");
    }
  }
  await redis.restart();
  say("Redis killed and started again, empty");
}

async function untilFinished(database: Database, messages: number, logs: readonly string[]): Promise<void> {
  const end = Date.now() + 120_000 + messages * FINISH_MS_EACH;
  for (;;) {
    const [row] = await database.rows<{ open: string }>(OPEN_WORK);
    if (Number(row?.open) === 0) return;
    if (Date.now() > end) throw new Error(`still ${row?.open} open rows:\n${logs.slice(-20).join("\n")}`);
    await pause(100);
  }
}

const TALLY = `
WITH asked AS (SELECT "conversationKey", "text", "seq" FROM "Entry" WHERE "kind" = 'message'),
said AS (SELECT "conversationKey", "text", "seq" FROM "Entry" WHERE "kind" = 'bubble'),
matched AS (
  SELECT a."conversationKey", a."seq", min(s."seq") AS "answer", count(s."seq") AS "answers"
  FROM asked a LEFT JOIN said s ON s."conversationKey" = a."conversationKey" AND s."text" = 'You said: ' || a."text" GROUP BY 1, 2
)
SELECT (SELECT count(*) FROM asked)::int AS "messages",
  (SELECT count(*) FROM matched WHERE "answers" = 0)::int AS "unanswered",
  (SELECT count(*) FROM matched WHERE "answers" > 1)::int AS "doubled",
  (SELECT count(*) FROM matched a JOIN matched b ON b."conversationKey" = a."conversationKey" AND b."seq" > a."seq" AND b."answer" < a."answer")::int
    AS "outOfOrder",
  (SELECT count(*) FROM "Turn" a JOIN "Turn" b ON b."sessionId" = a."sessionId" AND b."id" > a."id"
    AND b."startedAt" < a."endedAt" AND a."startedAt" < b."endedAt")::int AS "overlaps",
  (SELECT count(*) FROM "Session" WHERE "owner" IS NOT NULL)::int + (SELECT count(*) FROM "Turn" WHERE "status" NOT IN ('done'))::int AS "stuck",
  (SELECT count(*) FROM "Turn" WHERE "attempts" > 0)::int AS "turnsTakenUp"`;

async function tally(database: Database, messages: number): Promise<ChaosTally> {
  const [row] = await database.rows<ChaosTally & Record<string, unknown>>(TALLY);
  if (!row || row.messages !== messages) throw new Error(`${row?.messages} of ${messages} messages were stored`);
  return row;
}
