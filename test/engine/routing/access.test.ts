/** Who is served, where, and with which role: one function for every kind of event (SPEC I6). */
import { describe, expect, test } from "vitest";
import type { PersonKind, PersonRef, Role } from "../../../src/engine/person.ts";
import { isAtLeast, lowerRole, personId } from "../../../src/engine/person.ts";
import { decideAccess, roleOf } from "../../../src/engine/routing/access.ts";
import type { AccessSettings } from "../../../src/engine/settings.ts";

const closed: AccessSettings = {
  directMessages: "open",
  guests: "deny",
  external: "deny",
  people: [],
  admins: [],
  bots: "none",
  secretConnectors: "any",
};
const person = (kind: PersonKind): PersonRef => ({ id: "slack:T1:U1", platformId: "U1", name: "Ann", kind });
/** The role, or a no: `silent` when nothing may be said about it. */
function decided(kind: PersonKind, direct: boolean, more: Partial<AccessSettings> = {}): Role | "no" | "silent" {
  const decision = decideAccess(person(kind), direct, { ...closed, ...more });
  return decision.allowed ? decision.role : decision.silent ? "silent" : "no";
}

describe("by default", () => {
  test.each<[PersonKind, string]>([
    ["member", "member"],
    ["guest", "no"],
    ["external", "no"],
    ["bot", "silent"],
  ])("a %s: %s", (kind, expected) => {
    expect(decided(kind, false)).toBe(expected);
    expect(decided(kind, true)).toBe(expected);
  });
});

describe("settings", () => {
  test.each<[string, PersonKind, Partial<AccessSettings>, string, string]>([
    ["guests may be let in, as guests", "guest", { guests: "allow" }, "guest", "guest"],
    ["other companies may be let in, as guests", "external", { external: "allow" }, "guest", "guest"],
    ["letting guests in does not let other companies in", "external", { guests: "allow" }, "no", "no"],
    ["letting other companies in does not let guests in", "guest", { external: "allow" }, "no", "no"],
    [
      "foreign bots are never let in",
      "bot",
      { guests: "allow", external: "allow", people: ["U1"], admins: ["U1"] },
      "silent",
      "silent",
    ],
    ["a list of people closes direct messages only", "member", { directMessages: "allowlist" }, "member", "no"],
    ["pairing closes direct messages until it is done", "member", { directMessages: "pairing" }, "member", "no"],
    [
      "people on the list get in by native id",
      "member",
      { directMessages: "allowlist", people: ["U1"] },
      "member",
      "member",
    ],
    [
      "people on the list get in by full id",
      "member",
      { directMessages: "allowlist", people: ["slack:T1:U1"] },
      "member",
      "member",
    ],
    [
      "somebody else's id does not help",
      "member",
      { directMessages: "allowlist", people: ["slack:T2:U1", "U11", ""] },
      "member",
      "no",
    ],
    ["a name does not help", "member", { directMessages: "allowlist", people: ["Ann"] }, "member", "no"],
    ["being on the list does not let a guest in", "guest", { directMessages: "allowlist", people: ["U1"] }, "no", "no"],
    ["people listed while direct messages are open change nothing", "member", { people: ["U9"] }, "member", "member"],
    ["admins get in everywhere", "member", { directMessages: "allowlist", admins: ["U1"] }, "admin", "admin"],
    ["admins get in by full id", "member", { directMessages: "pairing", admins: ["slack:T1:U1"] }, "admin", "admin"],
    ["a guest may be an admin when somebody says so", "guest", { admins: ["U1"] }, "admin", "admin"],
  ])("%s", (_name, kind, settings, inChannel, inDirect) => {
    expect([decided(kind, false, settings), decided(kind, true, settings)]).toEqual([inChannel, inDirect]);
  });

  test("a refusal tells the person why and whom to ask", () => {
    const decision = decideAccess(person("guest"), true, closed);
    expect(decision).toMatchObject({ allowed: false, reason: expect.stringMatching(/Guest accounts.*administrator/) });
  });
});

describe("roles", () => {
  test("come from the settings and the kind of account", () => {
    expect(roleOf(person("member"), closed)).toBe("member");
    expect(roleOf(person("guest"), closed)).toBe("guest");
    expect(roleOf(person("external"), closed)).toBe("guest");
    expect(roleOf(person("external"), { ...closed, admins: ["U1"] })).toBe("admin");
  });

  test("rise from guest to owner", () => {
    const order: readonly Role[] = ["guest", "member", "admin", "owner"];
    for (const [i, low] of order.entries()) {
      for (const [j, high] of order.entries()) {
        expect(lowerRole(low, high)).toBe(order[Math.min(i, j)]);
        expect(isAtLeast(low, high)).toBe(i >= j);
      }
    }
  });

  test("belong to stable ids", () => {
    expect(personId("slack", "T1", "U1")).toBe("slack:T1:U1");
  });
});
