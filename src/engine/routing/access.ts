/**
 * Who may talk to a bot, and with which authority (SPEC I6). One pure function serves messages, clicks, modals, commands and reactions.
 * Denies by default for guests, external people and foreign bots.
 */

import type { PersonRef, Role } from "../person.ts";
import type { AccessSettings } from "../settings.ts";

/** May this person be served, and with which role. */
export type AccessDecision =
  | { readonly allowed: true; readonly role: Role }
  /** `reason` is for the person; `silent` = say nothing (foreign bots never get an answer). */
  | { readonly allowed: false; readonly reason: string; readonly silent: boolean };

/** Decides for one person and one place. */
export function decideAccess(person: PersonRef, direct: boolean, settings: AccessSettings): AccessDecision {
  if (person.kind === "bot") {
    if (settings.bots === "none" || direct)
      return { allowed: false, reason: "Other apps are not served here.", silent: true };
    return { allowed: true, role: "guest" };
  }
  const role = roleOf(person, settings);
  if (role === "admin" || role === "owner") return { allowed: true, role };
  if (person.kind === "guest" && settings.guests === "deny") return denied("Guest accounts are not served here.");
  if (person.kind === "external" && settings.external === "deny") {
    return denied("People of other organisations are not served here.");
  }
  if (direct && settings.directMessages !== "open" && !isListed(person, settings.people)) {
    return denied("Direct messages are limited to a list of people, and you are not on it yet.");
  }
  return { allowed: true, role };
}

/** The role settings give a person. */
export function roleOf(person: PersonRef, settings: AccessSettings): Role {
  if (isListed(person, settings.admins)) return "admin";
  return person.kind === "member" ? "member" : "guest";
}

function isListed(person: PersonRef, list: readonly string[]): boolean {
  return list.includes(person.id) || list.includes(person.platformId);
}

function denied(reason: string): AccessDecision {
  return { allowed: false, reason: `${reason} Please ask an administrator to change that.`, silent: false };
}
