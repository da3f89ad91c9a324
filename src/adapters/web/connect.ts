/**
 * Starting and stopping bots in the playground. There is no outside connection: a bot is reachable as soon as it is registered.
 * Invariant: the first bot of the process opens the playground and mounts its routes, the others join it; stopping ends all live streams.
 */

import type { AdapterAccount, AdapterContext, BotHealth } from "../../engine/index.ts";
import { Hub } from "./hub.ts";
import { handInOwed } from "./inbound.ts";
import { Page } from "./page.ts";
import { WORKSPACE_ID } from "./people.ts";
import { playgroundRoutes } from "./routes.ts";
import { secretFormRoutes } from "./secret-form.ts";
import { announceChange } from "./state.ts";

/** The channel everybody finds. */
const DEFAULT_CHANNEL = "general";

/** Opens the playground around its first bot. */
export function openHub(context: AdapterContext, publicFolder?: string): Hub {
  const hub = new Hub(context);
  const page = new Page(publicFolder);
  for (const route of [...playgroundRoutes(hub, page), ...secretFormRoutes(hub)]) context.route(route);
  return hub;
}

/** Makes a bot reachable: in a direct conversation with everybody, and in #general, where all bots meet. */
export async function joinHub(hub: Hub, account: AdapterAccount, context: AdapterContext): Promise<void> {
  const { botId } = account;
  const facts = { appId: botId, workspaceId: WORKSPACE_ID, botUserId: botId, otherIds: [] };
  const installation = await context.identify(account, facts);
  hub.bots.set(botId, { account, context, installation });
  // A process that only sends has nothing to say to open pages; those that serve them do.
  if (account.intake === false) return;
  await hub.channels.create({ id: DEFAULT_CHANNEL, name: DEFAULT_CHANNEL, bots: [] });
  await hub.channels.addOnce(DEFAULT_CHANNEL, botId);
  await announceChange(hub, botId);
  // What a crash left half-way is handed in aside: it must not delay the start, and a page that still waits resends anyway.
  void handInOwed(hub, { account, context, installation }).catch((error: unknown) =>
    hub.log.warn({ err: error, botId }, "messages written before the last stop could not be handed in yet"),
  );
}

/** All bots here are connected, always; the time of the last thing a person did proves that requests arrive. */
export function healthOf(hub: Hub): readonly BotHealth[] {
  return [...hub.bots.keys()].map((botId) => ({
    botId,
    state: "connected",
    ...(hub.lastEventAt ? { lastEventAt: hub.lastEventAt } : {}),
  }));
}

/** Ends the live streams and lets the bots go. */
export function closeHub(hub: Hub): void {
  hub.bots.clear();
  hub.live.close();
}
