/**
 * Remembers the workspaces that were added by "Add to Slack": a plain note of which, and their tokens sealed.
 * Invariant: the note is written after the token and removed before it, so that a note never stands without its token for longer than a crash lasts.
 */

import type { AdapterContext, Log, SecretValue } from "../../engine/index.ts";
import type { InstalledWorkspace } from "./oauth.ts";

const MOST = 1000;
const AGAIN_MS = 2000;

/** A remembered workspace. */
export interface KeptWorkspace {
  readonly workspaceKey: string;
  readonly token: SecretValue;
}

/** Keeps one; the token of an earlier installation of the same workspace is replaced. */
export async function keepInstalled(
  context: AdapterContext,
  botId: string,
  workspace: InstalledWorkspace,
): Promise<void> {
  const { workspaceKey, name, token } = workspace;
  await context.storeCredential(credentialKey(workspaceKey), token);
  await context.kv.set(`${prefixOf(botId)}${workspaceKey}`, { name, at: context.clock.now() });
}

/** All of a bot's; waits for a store that does not answer yet. */
export async function readInstalled(
  context: AdapterContext,
  botId: string,
  log: Log,
  stopping: AbortSignal,
): Promise<readonly KeptWorkspace[]> {
  while (!stopping.aborted) {
    try {
      return await readAll(context, botId, log);
    } catch {
      log.warn({}, "the workspaces of a slack app could not be read; trying again");
      await context.clock.delay(AGAIN_MS, stopping);
    }
  }
  return [];
}

async function readAll(context: AdapterContext, botId: string, log: Log): Promise<readonly KeptWorkspace[]> {
  const found: KeptWorkspace[] = [];
  const prefix = prefixOf(botId);
  for (const { key } of await context.kv.list({ prefix, limit: MOST })) {
    const workspaceKey = key.slice(prefix.length);
    const token = await context.readCredential(credentialKey(workspaceKey));
    if (token) found.push({ workspaceKey, token });
    else log.error({ workspace: workspaceKey }, "the token of a slack workspace is lost; add the app there again");
  }
  return found;
}

/** Forgets one whose token is worth nothing any more. Never rejects. */
export async function forgetInstalled(
  context: AdapterContext,
  botId: string,
  workspaceKey: string,
  log: Log,
): Promise<void> {
  try {
    await context.kv.delete(`${prefixOf(botId)}${workspaceKey}`);
    await context.forgetCredential(credentialKey(workspaceKey));
  } catch {
    // The next start finds the token refused, which is the same to everybody.
    log.warn({ workspace: workspaceKey }, "a removed slack workspace could not be forgotten");
  }
}

function prefixOf(botId: string): string {
  return `slack:installed:${botId}:`;
}

function credentialKey(workspaceKey: string): string {
  return `slack:${workspaceKey}`;
}
