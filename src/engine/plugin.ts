/**
 * A plugin is a package of skills and definitions of MCP servers made by somebody else (SPEC P1), in the layout that Claude and Cursor read too. Only its
 * skills are used as they are; its servers wait until an administrator enables them, and everything else in it is only named.
 */

import type { SkillProblem } from "./skill.ts";

/** How to reach an MCP server, as plugins write it. Exactly one of `command` and `url` is there. */
export interface ServerDefinition {
  readonly type?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server of an installed plugin. Enabled for this very definition: a plugin that changes it has to be enabled again. */
export interface PluginServer {
  readonly name: string;
  readonly plugin: string;
  readonly definition: ServerDefinition;
  readonly enabled: boolean;
}

/** What a package brings along that is not used here. */
export interface UnusedParts {
  readonly kind: "commands" | "agents" | "hooks" | "rules" | "links" | "other";
  readonly count: number;
}

/** Where a plugin is listed: in the settings, or added by command. */
export type PluginOrigin = "settings" | "command";

/** An installed plugin. */
export interface Plugin {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** Folder or git address as it was given. */
  readonly source: string;
  readonly origin: PluginOrigin;
  /** The commit that is installed, for git addresses. */
  readonly commit?: string;
  readonly skills: readonly string[];
  readonly servers: readonly PluginServer[];
  readonly unused: readonly UnusedParts[];
  /** What does not work, the last failed update among it. */
  readonly problems: readonly SkillProblem[];
}

/** What became of a wish: `text` is for the operator and says what to do on failure. */
export type PluginOutcome =
  | { readonly ok: true; readonly plugin: Plugin; readonly changed: boolean }
  | { readonly ok: false; readonly text: string };
