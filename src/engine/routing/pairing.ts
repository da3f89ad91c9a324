/**
 * Who may be served, with pairing looked up where the settings ask for it (SPEC I6): under `directMessages: pairing` an unknown person's first direct
 * message is answered with a code, and an administrator who types `!pair CODE` to the bot admits that person from then on.
 * Invariant: a code is good for one person and one hour; nobody is admitted by anything but an administrator's own message.
 */

import { randomInt } from "node:crypto";
import type { KeyValueStore } from "../adapter.ts";
import { isAtLeast, type PersonRef, type Role } from "../person.ts";
import type { AccessSettings } from "../settings.ts";
import type { Store } from "../store/store.ts";
import { type AccessDecision, decideAccess } from "./access.ts";

interface AdmitParts {
  readonly store: Store;
  readonly settings: { readonly access: AccessSettings };
}

interface PairingCode {
  readonly personId: string;
  readonly name: string;
  readonly until: number;
}

const SCOPE = "pairing";
const HOUR_MS = 3_600_000;

/** The one permission function with what is stored about the person. Refusals under pairing carry the code to pass on. */
export async function admit(parts: AdmitParts, person: PersonRef, direct: boolean): Promise<AccessDecision> {
  const { access } = parts.settings;
  const decision = decideAccess(person, direct, access);
  if (decision.allowed || !direct || access.directMessages !== "pairing" || person.kind !== "member") return decision;
  const kv = parts.store.keyValues(SCOPE);
  if ((await kv.get(`person:${person.id}`)) !== undefined) return { allowed: true, role: "member" };
  const code = await codeFor(kv, person);
  const reason = `Direct messages are limited to people an administrator has admitted. Please ask one to write to me: !pair ${code}`;
  return { allowed: false, silent: false, reason };
}

/** Admits the person behind a code; the text is for the administrator. */
export async function pair(parts: AdmitParts, code: string, by: PersonRef, role: Role): Promise<string> {
  if (!isAtLeast(role, "admin")) return "Only an administrator can admit people.";
  const kv = parts.store.keyValues(SCOPE);
  const found = (await kv.get(`code:${code}`)) as PairingCode | undefined;
  if (!found || found.until < Date.now())
    return "That code is unknown or too old; the person gets a new one with their next message.";
  await kv.set(`person:${found.personId}`, { by: by.id, at: new Date().toISOString() });
  await kv.delete(`code:${code}`);
  await kv.delete(`asked:${found.personId}`);
  return `${found.name || "That person"} may write to me from now on.`;
}

/** The person's present code, or a fresh one. */
async function codeFor(kv: KeyValueStore, person: PersonRef): Promise<string> {
  const asked = (await kv.get(`asked:${person.id}`)) as { readonly code: string; readonly until: number } | undefined;
  if (asked && asked.until > Date.now()) return asked.code;
  const until = Date.now() + HOUR_MS;
  for (;;) {
    const code = String(randomInt(100_000, 1_000_000));
    if (!(await kv.insert(`code:${code}`, { personId: person.id, name: person.name, until } satisfies PairingCode)))
      continue;
    await kv.set(`asked:${person.id}`, { code, until });
    return code;
  }
}

/** The code in `!pair 123456`; undefined for anything else. */
export function readPairing(text: string): string | undefined {
  return /^\s*!pair\s+(\d{6})\s*$/.exec(text)?.[1];
}
