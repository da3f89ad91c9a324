/**
 * Who is at the page. A person picks a display name once; an HttpOnly cookie with a random id and a random proof says later who it is.
 * Invariant: only the hash of the proof is stored, so neither the store nor another person's page can act for somebody.
 * This is a name tag for a private server, not a login: the password in front of the page is the web server's business.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type KeyValueStore, type PersonRef, personId } from "../../engine/index.ts";
import { MAX_NAME } from "./limits.ts";
import type { WirePerson } from "./wire.ts";

/** The one workspace of this platform. */
export const WORKSPACE_ID = "local";

/** The platform's registered name. */
export const PLATFORM = "web";

const COOKIE = "parley_person";
const YEAR_SECONDS = 365 * 24 * 3600;

interface StoredPerson {
  readonly id: string;
  readonly name: string;
  readonly proof: string;
}

/** Reads and writes name tags. */
export class People {
  readonly #kv: KeyValueStore;

  constructor(kv: KeyValueStore) {
    this.#kv = kv;
  }

  /** The person whose cookie came with the request, or null. */
  async ofRequest(request: Request): Promise<WirePerson | null> {
    const [id, proof] = cookieOf(request).split(".");
    if (!id || !proof || !/^u[a-z0-9]{12}$/.test(id)) return null;
    const stored = toPerson(await this.#kv.get(`person/${id}`));
    if (!stored || !sameHash(stored.proof, hash(proof))) return null;
    return { id: stored.id, name: stored.name };
  }

  /** Makes a person with this name. The cookie is the only copy of the proof. */
  async create(name: string, secure: boolean): Promise<{ person: WirePerson; cookie: string }> {
    const id = `u${randomBytes(10).toString("hex").slice(0, 12)}`;
    const proof = randomBytes(24).toString("base64url");
    await this.#kv.insert(`person/${id}`, { id, name, proof: hash(proof) } satisfies StoredPerson);
    const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${YEAR_SECONDS}${secure ? "; Secure" : ""}`;
    return { person: { id, name }, cookie: `${COOKIE}=${id}.${proof}; ${flags}` };
  }

  /** Gives a known person another display name. */
  async rename(id: string, name: string): Promise<WirePerson> {
    const stored = toPerson(await this.#kv.get(`person/${id}`));
    if (stored) await this.#kv.set(`person/${id}`, { ...stored, name } satisfies StoredPerson);
    return { id, name };
  }

  /** Everybody who chose a name here, up to 500. */
  async list(): Promise<readonly WirePerson[]> {
    const rows = await this.#kv.list({ prefix: "person/", limit: 500 });
    return rows.flatMap((row) => {
      const person = toPerson(row.value);
      return person ? [{ id: person.id, name: person.name }] : [];
    });
  }
}

/** The person as the engine names them. */
export function toPersonRef(person: WirePerson): PersonRef {
  return {
    id: personId(PLATFORM, WORKSPACE_ID, person.id),
    platformId: person.id,
    name: person.name,
    kind: "member",
  };
}

/** A usable display name, or what is wrong with the typed one. */
export function checkName(typed: unknown): { readonly name: string } | { readonly error: string } {
  if (typeof typed !== "string") return { error: 'Send a name: {"name": "…"}.' };
  const name = typed
    .normalize("NFC")
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  if (!/[\p{L}\p{N}]/u.test(name)) return { error: "A name needs at least one letter or digit." };
  if ([...name].length > MAX_NAME) return { error: `Please choose a name of at most ${MAX_NAME} characters.` };
  return { name };
}

function cookieOf(request: Request): string {
  const header = request.headers.get("cookie") ?? "";
  const pair = header.split(/;\s*/).find((part) => part.startsWith(`${COOKIE}=`));
  return pair?.slice(COOKIE.length + 1) ?? "";
}

function hash(proof: string): string {
  return createHash("sha256").update(proof).digest("hex");
}

function sameHash(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

function toPerson(value: unknown): StoredPerson | null {
  if (typeof value !== "object" || value === null) return null;
  const { id, name, proof } = value as Partial<StoredPerson>;
  return typeof id === "string" && typeof name === "string" && typeof proof === "string" ? { id, name, proof } : null;
}
