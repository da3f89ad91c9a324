/**
 * The installations of one account: one in each server, one for direct messages. They are stored when the bot signs in and when it is added to a
 * server, so that every event and every waiting post finds the bot it belongs to.
 * Invariant: the same place always gives the same installation; concurrent first questions store it once.
 */

import type { AdapterAccount, AdapterContext } from "../../engine/index.ts";

/** What stands for the workspace of direct messages, and of people, whose ids are the same on every server. */
export const DIRECT_WORKSPACE = "@me";

/** Finds the installation of a place. */
export interface Installs {
  /** The id of the installation in a server, or for direct messages. Rejects when it could not be stored. */
  of(guildId: string | undefined): Promise<string>;
}

/** Creates the lookup; `onKnown` is told of every new installation before its id is given out. */
export function createInstalls(
  context: AdapterContext,
  account: AdapterAccount,
  self: { readonly appId: string; readonly botUserId: string },
  onKnown: (installationId: string, workspaceId: string) => void,
): Installs {
  const known = new Map<string, Promise<string>>();
  const identify = async (workspaceId: string): Promise<string> => {
    const otherIds = self.appId === self.botUserId ? [] : [self.appId];
    const installation = await context.identify(account, { ...self, workspaceId, otherIds });
    onKnown(installation.id, workspaceId);
    return installation.id;
  };
  return {
    of(guildId) {
      const workspaceId = guildId ?? DIRECT_WORKSPACE;
      const pending = known.get(workspaceId) ?? identify(workspaceId);
      known.set(workspaceId, pending);
      // What could not be stored is tried again with the next event.
      pending.catch(() => known.delete(workspaceId));
      return pending;
    },
  };
}
