/**
 * The metrics page, and that the program counts only what the page explains.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COUNTERS, createMetrics, TIMINGS } from "../src/metrics.ts";
import { repositoryFiles, root } from "./architecture/sources.ts";

const page = async (metrics: ReturnType<typeof createMetrics>) => (await metrics.render()).body;

test("a count and a duration appear on the page with their labels", async () => {
  const metrics = createMetrics({ processDefaults: false });
  metrics.count("parley_turns_total", { outcome: "done" });
  metrics.count("parley_turns_total", { outcome: "done" }, 2);
  metrics.observe("parley_model_seconds", 0.02, { model: "demo" });
  expect(await page(metrics)).toContain('parley_turns_total{outcome="done"} 3');
  expect(await page(metrics)).toContain('parley_model_seconds_bucket{le="0.025",model="demo"} 1');
});

test("a label the page does not know is left out instead of failing a turn", async () => {
  const metrics = createMetrics({ processDefaults: false });
  metrics.count("parley_turns_total", { outcome: "done", person: "U1" });
  expect(await page(metrics)).toContain('parley_turns_total{outcome="done"} 1');
});

test("each bot's connection is read when the page is asked for", async () => {
  const metrics = createMetrics({ processDefaults: false });
  let connected = false;
  metrics.watchBots(() => [{ botId: "ada", platform: "slack", connected }]);
  expect(await page(metrics)).toContain('parley_bot_connected{bot="ada",platform="slack"} 0');
  connected = true;
  expect(await page(metrics)).toContain('parley_bot_connected{bot="ada",platform="slack"} 1');
});

test("every name and label the program uses is explained", () => {
  const known = { count: COUNTERS, observe: TIMINGS } as const;
  const unknown = repositoryFiles()
    .filter((path) => /^src\/.*\.ts$/.test(path))
    .flatMap((path) =>
      [
        ...readFileSync(join(root, path), "utf8").matchAll(
          /\b(count|observe)\(\s*"([a-z_]+)"(?:,[^{}()]*\{([^}]*)\})?/g,
        ),
      ].map((match) => ({ path, match })),
    )
    .flatMap(({ path, match: [, kind, name = "", labels = ""] }) => {
      const about = (known[kind as keyof typeof known] as Record<string, { labels: readonly string[] }>)[name];
      if (about === undefined) return [`${path}: ${name}`];
      const used = [...labels.matchAll(/(?:^|,)\s*([a-zA-Z]+)/g)].map(([, label]) => label ?? "");
      return used
        .filter((label) => !about.labels.includes(label))
        .map((label) => `${path}: ${name} has no label ${label}`);
    });
  expect(unknown).toEqual([]);
});

test("every metric on the page is counted somewhere", () => {
  const sources = repositoryFiles().filter((path) => /^src\/.*\.ts$/.test(path) && path !== "src/metrics.ts");
  const text = sources.map((path) => readFileSync(join(root, path), "utf8")).join("\n");
  expect([...Object.keys(COUNTERS), ...Object.keys(TIMINGS)].filter((name) => !text.includes(`"${name}"`))).toEqual([]);
});
