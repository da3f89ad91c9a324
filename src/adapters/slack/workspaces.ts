/**
 * The workspaces one bot is installed in: the one of its settings, and those that were added by "Add to Slack". Signs in to each, again and again where
 * it must be, and finds the right one for what Slack sends.
 * Invariant: what goes wrong in one workspace stays there; a payload is only ever given to the workspace it names, so that equal channel ids of two
 * workspaces never meet.
 */

import type { Clock, Log, SecretValue } from "../../engine/index.ts";
import { type Fields, toFields, toList, toTexts } from "../shared/fields.ts";
import type { SlackBot } from "./bot.ts";
import { problemOf } from "./errors.ts";
import type { SignedIn } from "./sign-in.ts";

/** What the set is made of. `signIn` rejects with the client's errors. */
export interface WorkspacesParts {
  readonly signIn: (token: SecretValue) => Promise<SignedIn>;
  readonly clock: Clock;
  readonly log: Log;
  readonly stopping: AbortSignal;
  /** Called for each workspace that was signed in to, before it is found by anything. */
  readonly onSignedIn: (bot: SlackBot) => void;
  /** Something about health may have changed. */
  readonly onChange: () => void;
}

/** How the workspaces are, together. */
export interface WorkspacesState {
  /** Signed in and not known to be refused. */
  readonly working: number;
  /** Not signed in yet, and nothing speaks against it. */
  readonly pending: number;
  /** What is wrong, for the operator; named by workspace when there are several. */
  readonly remedies: readonly string[];
}

interface Source {
  readonly key: string;
  name?: string;
  bot?: SlackBot;
  problem?: string;
  /** Slack refused the token: it is not a matter of waiting. */
  refused: boolean;
  /** Permissions that are missing. */
  remedy?: string;
}

const RETRY_MS = [500, 1000, 2000, 5000, 10_000, 30_000];
const REFUSED_RETRY_MS = 60_000;

/** The workspaces of one bot; empty until `add`. */
export class Workspaces {
  readonly #parts: WorkspacesParts;
  readonly #sources = new Map<string, Source>();

  constructor(parts: WorkspacesParts) {
    this.#parts = parts;
  }

  /** Signs in with a token and keeps trying; a source of the same key is replaced. Resolves when signed in or given up. Never rejects. */
  async add(key: string, token: SecretValue): Promise<void> {
    const source: Source = { key, refused: false };
    this.#sources.set(key, source);
    const { clock, stopping } = this.#parts;
    for (let failures = 0; !stopping.aborted && this.#sources.get(key) === source; failures += 1) {
      const waitMs = await this.#try(source, token, failures);
      if (waitMs === undefined) return;
      await clock.delay(waitMs, stopping);
    }
  }

  /** The workspace a payload belongs to. */
  of(body: Fields): SlackBot | undefined {
    const bots = this.all();
    for (const key of keysOf(body)) {
      const found = bots.find(({ self }) => self.workspaceId === key);
      if (found) return found;
    }
    // Without an authorisation Slack may name the workspace of the person who clicked, in a channel that two companies share.
    return toList(body.authorizations).length === 0 && this.#sources.size === 1 ? bots[0] : undefined;
  }

  all(): readonly SlackBot[] {
    return [...this.#sources.values()].flatMap((source) => source.bot ?? []);
  }

  /** True for a key that is signed in to, or being tried; one whose token is refused may have been added anew elsewhere. */
  knows(key: string): boolean {
    return this.#sources.get(key)?.refused === false;
  }

  /** The key under which a workspace was added. */
  keyOf(installationId: string): string | undefined {
    return this.#ofInstallation(installationId)?.key;
  }

  /** Slack refuses this workspace's token. */
  fail(installationId: string, problem: string): void {
    const source = this.#ofInstallation(installationId);
    if (!source) return;
    Object.assign(source, { problem, refused: true });
    this.#parts.onChange();
  }

  /** A call succeeded: a token that was refused works again. */
  worked(installationId: string): void {
    const source = this.#ofInstallation(installationId);
    if (!source?.refused) return;
    Object.assign(source, { problem: undefined, refused: false });
    this.#parts.onChange();
  }

  isRefused(installationId: string): boolean {
    return this.#ofInstallation(installationId)?.refused === true;
  }

  state(): WorkspacesState {
    const sources = [...this.#sources.values()];
    const said = (source: Source) => source.problem ?? source.remedy;
    return {
      working: sources.filter((source) => source.bot && !source.refused).length,
      pending: sources.filter((source) => !source.bot && !source.refused).length,
      remedies: sources.flatMap((source) => {
        const text = said(source);
        if (text === undefined) return [];
        return [sources.length > 1 ? `${source.name ?? source.key}: ${text}` : text];
      }),
    };
  }

  #ofInstallation(installationId: string): Source | undefined {
    return [...this.#sources.values()].find((source) => source.bot?.self.installationId === installationId);
  }

  /** One try; undefined when it succeeded, else the wait before the next one, ms. */
  async #try(source: Source, token: SecretValue, failures: number): Promise<number | undefined> {
    try {
      const { bot, workspaceName, remedy } = await this.#parts.signIn(token);
      if (this.#parts.stopping.aborted || this.#sources.get(source.key) !== source) return undefined;
      this.#parts.onSignedIn(bot);
      Object.assign(source, { bot, name: workspaceName, remedy, problem: undefined, refused: false });
      this.#parts.onChange();
      return undefined;
    } catch (error) {
      const problem = problemOf(error);
      const refused = problem.problem === "bot" || problem.problem === "content";
      this.#parts.log.warn({ code: problem.code }, "slack sign-in failed");
      Object.assign(source, { problem: problem.text, refused });
      this.#parts.onChange();
      const wait = refused ? REFUSED_RETRY_MS : (RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? REFUSED_RETRY_MS);
      return Math.max(problem.waitMs, wait * (0.7 + 0.6 * Math.random()));
    }
  }
}

/** The workspaces a payload may mean, the surest first: who Slack delivered it for, then where it happened. */
function keysOf(body: Fields): readonly string[] {
  const [authorization] = toList(body.authorizations);
  const { team_id, enterprise_id, is_enterprise_install } = authorization ?? {};
  const forOrg = is_enterprise_install === true;
  if (authorization) return toTexts(forOrg ? [enterprise_id, team_id] : [team_id, enterprise_id]);
  const installed = [toFields(body.view).app_installed_team_id];
  const place = [toFields(body.team).id, body.team_id, body.context_team_id];
  return toTexts([...installed, ...place, toFields(body.enterprise).id, body.enterprise_id]);
}
