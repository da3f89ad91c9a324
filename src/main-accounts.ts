/**
 * Which bots answer on which platforms: connects every bot to the playground and to each platform it has an account on, and those made or changed at
 * run time as soon as they are known. A bot that fails never holds up the rest.
 */
import { adapters, type Platform } from "./adapters/index.ts";
import type { BotConfig, Config } from "./config.ts";
import type { Adapter, AdapterAccount, Bot, Engine, Log } from "./engine/index.ts";

/** The connections of this process. */
export interface Accounts {
  /** Resolves when every bot is connected or has definitely failed. */
  connect(bots: readonly Bot[]): Promise<void>;
  /** Makes a bot of run time reachable in the playground, or shows it under its new name there. */
  attach(bot: Bot): Promise<void>;
}

/** Accounts over the settings; platforms are loaded when their first bot needs them. */
export function createAccounts(config: Config, engine: Engine, log: Log): Accounts {
  const made = new Map<Platform, Promise<Adapter>>();
  const adapterOf = (platform: Platform) => {
    const adapter = made.get(platform) ?? adapters[platform]({ slack: config.slack, discord: config.discord });
    made.set(platform, adapter);
    return adapter;
  };
  const start = async (platform: Platform, account: AdapterAccount) => {
    try {
      await engine.connect(await adapterOf(platform), account);
    } catch (error) {
      log.error({ botId: account.botId, platform, error: String(error) }, "bot could not be started on this platform");
    }
  };
  return {
    async connect(bots) {
      const settings = new Map(config.bots.map((bot) => [bot.id, bot]));
      // The playground one after the other: it shows bots in the order in which they came, and connects to nothing.
      for (const bot of bots) await start("web", accountOf(bot));
      const accounts = bots.flatMap((bot) => accountsOf(bot, settings.get(bot.id)));
      await Promise.all(accounts.map(({ platform, account }) => start(platform, account)));
    },
    attach: (bot) => start("web", accountOf(bot)),
  };
}

function accountOf(bot: Bot): AdapterAccount {
  return { botId: bot.id, name: bot.name, role: bot.role, model: bot.model, settings: {} };
}

/** Its accounts beside the playground; a bot made at run time has none. */
function accountsOf(bot: Bot, settings: BotConfig | undefined): { platform: Platform; account: AdapterAccount }[] {
  const account = accountOf(bot);
  return [
    ...(settings?.slack ? [{ platform: "slack" as const, account: { ...account, settings: settings.slack } }] : []),
    ...(settings?.discord
      ? [{ platform: "discord" as const, account: { ...account, settings: settings.discord } }]
      : []),
  ];
}
