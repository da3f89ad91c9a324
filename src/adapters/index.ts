/**
 * Platform name → factory; one line per platform. Loaded only when a bot uses it, because platform libraries are heavy.
 */

import type { Adapter } from "../engine/index.ts";
import type { Looks } from "./shared/looks.ts";

/** Settings shared by all bots of each platform. */
export interface PlatformSettings {
  readonly slack: Looks & { readonly apiUrl: string };
  readonly discord: Looks & { readonly apiUrl: string; readonly cdnHosts: readonly string[] };
}

/** Loads a platform's adapter. */
export const adapters = {
  slack: async (settings: PlatformSettings): Promise<Adapter> =>
    (await import("./slack/index.ts")).createSlackAdapter(settings.slack),
  discord: async (settings: PlatformSettings): Promise<Adapter> =>
    (await import("./discord/index.ts")).createDiscordAdapter(settings.discord),
  web: async (_settings: PlatformSettings): Promise<Adapter> => (await import("./web/index.ts")).createWebAdapter(),
} as const;

/** A platform that can be started. */
export type Platform = keyof typeof adapters;

/** What the operator's commands need of each platform, loaded like the adapters. */
export const platformSetups = {
  slack: async () => (await import("./slack/index.ts")).setup,
  discord: async () => (await import("./discord/index.ts")).setup,
} as const;
