/**
 * The workspaces one bot was added to by "Add to Slack", in this process or another: signs in to those that are remembered, keeps new ones, and looks
 * for those that other processes have added meanwhile.
 */

import type { AdapterAccount, AdapterContext, Log, SecretValue } from "../../engine/index.ts";
import { forgetInstalled, keepInstalled, readInstalled } from "./installed.ts";
import type { InstalledWorkspace } from "./oauth.ts";
import type { Workspaces } from "./workspaces.ts";

/** Another process is not asked about more often than this, ms. */
const LOOK_EVERY_MS = 5_000;

/** What the set works with. */
export interface AddedWorkspacesParts {
  readonly account: AdapterAccount;
  readonly context: AdapterContext;
  /** Rejects when Slack refuses the token. */
  readonly signIn: (token: SecretValue) => Promise<unknown>;
  readonly workspaces: Workspaces;
  readonly log: Log;
  readonly stopping: AbortSignal;
}

/** The added workspaces of one bot. */
export class AddedWorkspaces {
  readonly #parts: AddedWorkspacesParts;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: AddedWorkspacesParts) {
    this.#parts = parts;
  }

  /** Begins to sign in to every remembered workspace that is not known yet; returns how many are remembered. Never rejects. */
  async signIn(): Promise<number> {
    const { account, context, log, stopping, workspaces } = this.#parts;
    const added = await readInstalled(context, account.botId, log, stopping);
    for (const { workspaceKey, token } of added)
      if (!workspaces.knows(workspaceKey)) void workspaces.add(workspaceKey, token);
    return added.length;
  }

  /** Looks whether another process has added one, now and then; true when it has begun to look just now. */
  lookForNew(): boolean {
    const now = this.#parts.context.clock.now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return false;
    this.#lookedAt = now;
    void this.signIn();
    return true;
  }

  /** Keeps a workspace that was just added and signs in to it; a text says what went wrong. */
  async install(workspace: InstalledWorkspace): Promise<string | undefined> {
    const { context, account, signIn, log, workspaces } = this.#parts;
    try {
      await signIn(workspace.token);
      await keepInstalled(context, account.botId, workspace);
    } catch (error) {
      log.error({ error: error instanceof Error ? error.name : "" }, "a slack installation could not be kept");
      return `The installation could not be kept. Begin again at /slack/${account.botId}/install.`;
    }
    await workspaces.add(workspace.workspaceKey, workspace.token);
    log.info({ workspace: workspace.workspaceKey }, "slack workspace added");
    return undefined;
  }

  /** One that removed the app. */
  forget(workspaceKey: string): void {
    const { context, account, log } = this.#parts;
    void forgetInstalled(context, account.botId, workspaceKey, log);
  }
}
