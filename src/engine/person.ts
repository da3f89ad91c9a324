/**
 * People and what they may do. Names come from platforms and are untrusted: they are shown marked, never trusted as text.
 */

/** member: full account · guest: limited account · external: another company's account · bot: an app that is not ours. */
export type PersonKind = "member" | "guest" | "external" | "bot";

/** Rising authority (SPEC I6). A turn acts with the lowest authority of the people it serves. */
export type Role = "guest" | "member" | "admin" | "owner";

/** A person as a platform event names them. `id` is `platform:workspace:platformId` and stable. */
export interface PersonRef {
  readonly id: string;
  readonly platformId: string;
  readonly name: string;
  readonly kind: PersonKind;
}

const AUTHORITY: Readonly<Record<Role, number>> = { guest: 0, member: 1, admin: 2, owner: 3 };

/** The stable person id of a platform account. */
export function personId(platform: string, workspaceId: string, platformId: string): string {
  return `${platform}:${workspaceId}:${platformId}`;
}

/** The lower of two roles. */
export function lowerRole(left: Role, right: Role): Role {
  return AUTHORITY[left] <= AUTHORITY[right] ? left : right;
}

/** True when `role` is at least `needed`. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return AUTHORITY[role] >= AUTHORITY[needed];
}
