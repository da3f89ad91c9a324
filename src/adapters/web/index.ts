/**
 * The web platform: a playground in the browser with the same contract as any chat platform. People pick a name, every bot is a direct
 * conversation, channels hold bots, and the timeline is durable in the adapter's key-value store.
 * Invariant: nothing is special to this platform in the engine; what Slack can do to a bot, the page can do too.
 */

import { type Adapter, DeliveryError } from "../../engine/index.ts";
import { mayRead } from "./channels.ts";
import { closeHub, healthOf, joinHub, openHub } from "./connect.ts";
import { deliver, find, history, react, settle } from "./deliver.ts";
import type { Hub } from "./hub.ts";
import { DELIVER_TIMEOUT_MS, WORKING_MS } from "./limits.ts";
import { PLATFORM } from "./people.ts";
import { render } from "./render.ts";

/** What the playground can be told. `publicFolder` is where the built page lies, when not beside this code or in dist. */
export interface WebAdapterSettings {
  readonly publicFolder?: string;
}

/** One adapter serves all bots of the process; `start` is called once for each. */
export function createWebAdapter(settings: WebAdapterSettings = {}): Adapter {
  let hub: Hub | undefined;
  const open = (): Hub => {
    if (!hub) throw new DeliveryError("bot", "The playground is not running.");
    return hub;
  };
  return {
    platform: PLATFORM,
    maxTextPieces: 1,
    deliverTimeoutMs: DELIVER_TIMEOUT_MS,
    showsOwnPages: true,
    async start(account, context) {
      hub ??= openHub(context, settings.publicFolder);
      await joinHub(hub, account, context);
    },
    async stop() {
      if (hub) closeHub(hub);
    },
    render,
    deliver: async (piece) => deliver(open(), piece),
    find: async (piece) => find(open(), piece),
    settle: async (_delivery, place, receipts, outcome) => settle(open(), place, receipts, outcome),
    react: async (place, nativeId, emoji) => react(open(), place, nativeId, emoji),
    async showWorking(place, working) {
      const bot = open().botOfInstallation(place.installationId);
      const until = working ? new Date(open().clock.now() + WORKING_MS) : null;
      if (bot) await open().setWorking(place.ref.channelId, bot, until);
    },
    history: async (_installationId, ref, limit) => history(open(), ref.channelId, limit),
    async channels(installationId) {
      const botId = open().botOfInstallation(installationId)?.account.botId;
      const channels = await open().channels.list();
      const own = channels.filter((channel) => botId !== undefined && channel.bots.includes(botId));
      return own.map((channel) => ({ channelId: channel.id, name: channel.name }));
    },
    async members(_installationId, channelId) {
      const place = await open().channels.place(channelId);
      if (!place) return [];
      const people = (await open().people.list()).filter((person) => mayRead(place, person.id));
      return [...place.bots, ...people.map((person) => person.id)];
    },
    health: () => (hub ? healthOf(hub) : []),
  };
}
