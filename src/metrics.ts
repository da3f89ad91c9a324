/**
 * The numbers Parley tells Prometheus about itself, at /metrics (SPEC O5). Implements the engine's Metrics; the only file that knows prom-client.
 * Invariant: every name is in the two tables below with its help text and labels; a call with another name does not compile here, and the tests
 * find one anywhere else. Label values are kinds and outcomes, never ids or content, so the number of series stays small.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Metrics } from "./engine/index.ts";

interface Description {
  readonly help: string;
  readonly labels: readonly string[];
}

/** Things that happen, by what happened. */
export const COUNTERS = {
  parley_events_total: {
    help: "Platform events taken in, by what became of them.",
    labels: ["platform", "type", "status"],
  },
  parley_turns_total: { help: "Turns ended, by how.", labels: ["outcome"] },
  parley_model_steps_total: { help: "Model calls, by model and outcome.", labels: ["model", "outcome"] },
  parley_model_tokens_total: {
    help: "Tokens used, by model and kind (input, output, cached).",
    labels: ["model", "kind"],
  },
  parley_tool_calls_total: { help: "Tool calls, by tool and outcome.", labels: ["tool", "outcome"] },
  parley_peer_messages_total: {
    help: "Messages between bots, and why some were refused.",
    labels: ["outcome"],
  },
  parley_nudges_total: {
    help: "Reminders, closing re-runs and forced sends (SPEC M11, M12), by kind.",
    labels: ["kind"],
  },
  parley_bubbles_total: { help: "SendMessage calls, by type and outcome.", labels: ["type", "outcome"] },
  parley_pieces_total: {
    help: "Delivery attempts of native messages, by platform and outcome.",
    labels: ["platform", "outcome"],
  },
  parley_slack_events_dropped_by_slack_total: {
    help: "Times Slack said that it drops events (app_rate_limited).",
    labels: [],
  },
  parley_slack_lost_acknowledgements_total: {
    help: "Slack envelopes whose acknowledgement could not be sent on their own socket.",
    labels: [],
  },
  parley_slack_missed_messages_total: { help: "Messages read from history after an absence.", labels: [] },
  parley_slack_silent_sockets_total: { help: "Slack sockets replaced because they went silent.", labels: [] },
  parley_slack_surplus_sockets_total: { help: "Times a bot had more open Slack sockets than it should.", labels: [] },
  parley_slack_unknown_workspace_total: {
    help: "Slack payloads of a workspace the bot is not installed in.",
    labels: [],
  },
  parley_slack_unmatched_mentions_total: {
    help: "Slack mentions whose message did not arrive beside them.",
    labels: [],
  },
  parley_slack_untold_notices_total: { help: "Private notices that could not be shown to a person.", labels: [] },
  parley_discord_missed_messages_total: { help: "Messages read from history after an absence.", labels: [] },
  parley_discord_untold_notices_total: { help: "Private notices that could not be shown to a person.", labels: [] },
} as const satisfies Record<string, Description>;

/** How long things take, in seconds. */
export const TIMINGS = {
  parley_model_seconds: { help: "Length of a model call.", labels: ["model"] },
} as const satisfies Record<string, Description>;

/** Name of a counter. */
export type CounterName = keyof typeof COUNTERS;

/** Name of a timing. */
export type TimingName = keyof typeof TIMINGS;

/** The engine's Metrics with known names only, what main adds, and the page. */
export interface ServedMetrics extends Metrics {
  count(name: CounterName, labels?: Record<string, string>, by?: number): void;
  observe(name: TimingName, seconds: number, labels?: Record<string, string>): void;
  /** Asks `read` at each rendering: 1 for a bot that is connected to a platform, 0 for one that is not. */
  watchBots(
    read: () => readonly { readonly botId: string; readonly platform: string; readonly connected: boolean }[],
  ): void;
  /** The page for /metrics in Prometheus' text form. */
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** From a few milliseconds (an acknowledgement) to half an hour (the longest turn). */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 1_800];

/** Makes the process's metrics. `processDefaults` adds memory, CPU and event loop of this process; it measures until the process ends. */
export function createMetrics(options: { readonly processDefaults: boolean }): ServedMetrics {
  const registry = new Registry();
  if (options.processDefaults) collectDefaultMetrics({ register: registry });
  const counters = new Map(Object.entries(COUNTERS).map(([name, about]) => [name, toCounter(name, about, registry)]));
  const timings = new Map(Object.entries(TIMINGS).map(([name, about]) => [name, toTiming(name, about, registry)]));
  return {
    count: (name, labels = {}, by = 1) => counters.get(name)?.inc(known(COUNTERS[name], labels), by),
    observe: (name, seconds, labels = {}) => timings.get(name)?.observe(known(TIMINGS[name], labels), seconds),
    watchBots: (read) => watchBots(registry, read),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

function toCounter(name: string, { help, labels }: Description, registry: Registry): Counter {
  return new Counter({ name, help, labelNames: [...labels], registers: [registry] });
}

function toTiming(name: string, { help, labels }: Description, registry: Registry): Histogram {
  return new Histogram({ name, help, labelNames: [...labels], buckets: BUCKETS, registers: [registry] });
}

/** prom-client throws on a label it was not told of; a turn must not fail over a number. */
function known(description: Description, labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([label]) => description.labels.includes(label)));
}

function watchBots(registry: Registry, read: Parameters<ServedMetrics["watchBots"]>[0]): void {
  const gauge = new Gauge({
    name: "parley_bot_connected",
    help: "1 while a bot is connected to a platform.",
    labelNames: ["bot", "platform"],
    registers: [registry],
    collect() {
      gauge.reset();
      for (const { botId, platform, connected } of read()) gauge.set({ bot: botId, platform }, connected ? 1 : 0);
    },
  });
}
