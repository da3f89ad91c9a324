/**
 * A skill is a written method: how to do one kind of task (SPEC P1). It comes as a folder with a SKILL.md (from the workspace or a plugin) or was written
 * by a bot itself (a workflow). Ids are stable: they come from folder names or are made once, never from a name that an edit may change.
 */

/** Where a skill comes from. workspace: a folder of the shared workspace · private: of one bot's own · plugin: read-only · written: by a bot. */
export type SkillSource =
  | { readonly kind: "workspace" }
  | { readonly kind: "private"; readonly botId: string }
  | { readonly kind: "plugin"; readonly plugin: string }
  | { readonly kind: "written"; readonly botId: string; readonly audience: string };

/** A skill as it is listed. Name and description are what others wrote: untrusted. */
export interface Skill {
  /** `workspace:<folder>`, `private:<folder>`, `<plugin>:<folder>`, or `wfl_…` for a written one. */
  readonly id: string;
  readonly name: string;
  /** What it is for and when to use it. */
  readonly description: string;
  readonly source: SkillSource;
}

/** A page of text out of a skill. */
export type SkillText =
  | {
      readonly ok: true;
      readonly text: string;
      /** Characters of the whole file. */
      readonly total: number;
      /** Where the next page begins; absent on the last. */
      readonly next?: number;
      /** Files beside SKILL.md, as paths inside the skill; only with its first page. */
      readonly files?: readonly string[];
    }
  | { readonly ok: false; readonly text: string };

/** Something about a skill or plugin that does not work; `text` says what and how to mend it. */
export interface SkillProblem {
  /** Folder, file or plugin it is about, as the operator knows it. */
  readonly where: string;
  readonly text: string;
}

/** The skills this process can read from folders. */
export interface SkillLibrary {
  /** Skills of folders that this bot may use, in order of their ids. */
  list(botId: string): readonly Skill[];
  /** A page of SKILL.md (its text after the front matter) or of a file beside it. Contract: never throws; `offset` counts characters. */
  read(botId: string, id: string, file: string | undefined, offset: number): Promise<SkillText>;
  problems(): readonly SkillProblem[];
  /** Looks at the folders again; cheap when nothing changed. Contract: never throws. */
  refresh(): Promise<void>;
}

/** A skill written by a bot (SPEC W6). */
export interface Workflow {
  readonly id: string;
  readonly botId: string;
  readonly name: string;
  readonly description: string;
  readonly audience: string;
  /** Counts its changes. */
  readonly version: number;
}

/** Longest name, characters. */
export const SKILL_NAME_CHARS = 80;
/** Longest description that is kept, characters (as in published skills). */
export const SKILL_DESCRIPTION_CHARS = 1024;
/** Longest text of a written skill, characters. */
export const WORKFLOW_CHARS = 20_000;
/** Written skills a bot may have. */
export const MAX_WORKFLOWS = 100;
