/**
 * Makes the installed plugins agree with the `plugins` of the settings, beside everything else: a slow or failing address delays nothing, and what was installed
 * before is in use meanwhile. Only processes that run turns do it.
 */

import type { Config } from "./config.ts";
import { createPlugins, type Log } from "./engine/index.ts";

/** Begins at once; `stop` ends what is still being fetched. */
export function syncPlugins(config: Config, log: Log): { stop(): Promise<void> } {
  const ending = new AbortController();
  const work = config.role === "gateway" ? Promise.resolve() : sync(config, log, ending.signal);
  return {
    stop() {
      ending.abort();
      return work;
    },
  };
}

async function sync(config: Config, log: Log, signal: AbortSignal): Promise<void> {
  const plugins = createPlugins({ dir: config.storage.pluginsDir, cwd: config.baseDir, gitEnv: config.gitEnv, signal });
  try {
    // Without a list and without anything installed no folder is made.
    if (config.plugins.length === 0 && (await plugins.list()).length === 0) return;
    for (const { source, outcome } of await plugins.sync(config.plugins)) {
      if (signal.aborted) return;
      if (!outcome.ok) log.warn({ source }, `plugin: ${outcome.text}`);
      else if (outcome.changed)
        log.info({ plugin: outcome.plugin.name, commit: outcome.plugin.commit }, "plugin installed");
    }
  } catch (error) {
    log.warn(
      { error: error instanceof Error ? error.message : String(error) },
      "plugins of the settings not looked at",
    );
  }
}
