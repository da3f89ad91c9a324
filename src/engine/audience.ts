/**
 * The one rule of who may hear what (SPEC R2): audiences are symbolic, and whether something may be read in a place is decided when it is read.
 * Pure. Stricter than it could be in one case: what belongs to a channel is read in that channel only, not in a direct message with a member of it.
 */

import type { Role } from "./person.ts";

/** Where something is about to be read, as its own audience, and the lowest role among the people served there. */
export interface ListeningPlace {
  /** `person(id)` or `channel(id)`; "" for a place without people. */
  readonly audience: string;
  readonly role: Role;
}

/**
 * Everybody of the platform workspace that this audience lies in, except guests and people of other organisations. Undefined where there is none: direct messages
 * of a platform on which anybody may write to a bot belong to no workspace.
 */
export function publicAudience(audience: string): string | undefined {
  const workspace = workspaceOf(audience);
  return workspace === undefined ? undefined : `public(${workspace})`;
}

/** Whether what has this audience may be read there. */
export function mayHear(audience: string, place: ListeningPlace): boolean {
  if (place.audience === "") return false;
  if (audience === place.audience) return true;
  return place.role !== "guest" && audience === publicAudience(place.audience);
}

/** Who hears it, in words for a model or person. */
export function audienceInWords(audience: string): string {
  if (audience.startsWith("person(")) return "this person only";
  return audience.startsWith("public(") ? "everybody in this workspace" : "this channel";
}

/** `platform:workspace` of an audience; a workspace whose id begins with @ is none. */
function workspaceOf(audience: string): string | undefined {
  return /^(?:person|channel)\(([^:()]+:[^:()@][^:()]*):/.exec(audience)?.[1];
}
