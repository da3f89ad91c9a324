/** The parts that decide something by themselves: budgets, breakers, memories, permissions. */

import { expect, test } from "vitest";
import { createBlocked } from "../../src/adapters/discord/blocked.ts";
import { createDirectory } from "../../src/adapters/discord/directory.ts";
import { problemOf, toDeliveryError } from "../../src/adapters/discord/errors.ts";
import { nonceOf } from "../../src/adapters/discord/find.ts";
import { createIdentifyBudget } from "../../src/adapters/discord/identify-budget.ts";
import { createInvalidRequests } from "../../src/adapters/discord/invalid-requests.ts";
import { fileLimit } from "../../src/adapters/discord/limits.ts";
import { invitePermissions, missingIn, permissionsIn } from "../../src/adapters/discord/permissions.ts";
import { createProgress } from "../../src/adapters/discord/progress.ts";
import { createRecent } from "../../src/adapters/discord/recent.ts";
import type { Clock } from "../../src/engine/index.ts";
import { createMemoryKv } from "../support/memory-kv.ts";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const log = { ...silent, child: () => log };

/** A clock on which waiting is passing. */
function fakeClock(start = 1_700_000_000_000) {
  let now = start;
  const waits: number[] = [];
  const clock: Clock = {
    now: () => now,
    delay: (ms) => {
      waits.push(ms);
      now += ms;
      return Promise.resolve();
    },
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { clock, waits, pass };
}

test("starts in a row wait longer each time, also in the next process", async () => {
  const { clock, waits } = fakeClock();
  const kv = createMemoryKv();
  const signal = new AbortController().signal;
  for (let index = 0; index < 6; index += 1) await createIdentifyBudget(kv, "starts", clock).take(signal);
  expect(waits[0]).toBe(0);
  for (const [index, wait] of waits.slice(1).entries()) {
    expect(wait).toBeGreaterThanOrEqual(2500 * 2 ** index);
    expect(wait).toBeLessThanOrEqual(5000 * 2 ** index);
  }
});

test("a day of failing starts stays far below what Discord allows", async () => {
  const { clock } = fakeClock();
  const kv = createMemoryKv();
  const budget = createIdentifyBudget(kv, "starts", clock);
  const end = clock.now() + 24 * 60 * 60_000;
  let starts = 0;
  for (; clock.now() < end; starts += 1) await budget.take(new AbortController().signal);
  expect(starts).toBeLessThan(400);
});

test("a connection that held makes the next start free again", async () => {
  const { clock, waits, pass } = fakeClock();
  const budget = createIdentifyBudget(createMemoryKv(), "starts", clock);
  const signal = new AbortController().signal;
  await budget.take(signal);
  await budget.take(signal);
  pass(61_000);
  budget.steady();
  await budget.take(signal);
  expect(waits.at(-1)).toBe(0);
});

test("what Discord says about today counts, too", async () => {
  const { clock, waits } = fakeClock();
  const budget = createIdentifyBudget(createMemoryKv(), "starts", clock);
  await budget.told({ total: 1000, remaining: 0, resetAfterMs: 90_000 });
  await budget.take(new AbortController().signal);
  expect(waits).toEqual([90_000]);
});

test("too many refusals stop all calls until the window has passed", () => {
  const { clock, pass } = fakeClock();
  const invalid = createInvalidRequests(clock, log, 3);
  for (const status of [401, 403, 200, 404]) invalid.count(status, "");
  invalid.count(429, "shared");
  invalid.check();
  invalid.count(429, "user");
  expect(() => invalid.check()).toThrow("paused");
  pass(10 * 60_000 + 1);
  invalid.check();
});

test("progress never passes what is still being stored, and an old session has no say", () => {
  const progress = createProgress(10);
  const [first, second] = [progress.begin(11), progress.begin(12)];
  second();
  expect(progress.safe()).toBe(10);
  first();
  expect(progress.safe()).toBe(12);
  const old = progress.begin(13);
  progress.restart(0);
  const fresh = progress.begin(1);
  old();
  expect(progress.safe()).toBe(0);
  fresh();
  expect(progress.safe()).toBe(1);
});

test("a refused place is remembered for one bot until something changes or a while has passed", () => {
  const { clock, pass } = fakeClock();
  const blocked = createBlocked(clock);
  blocked.add("ada", "c1", "g1", "no permission");
  expect([blocked.reason("ada", "c1"), blocked.reason("bo", "c1")]).toEqual(["no permission", undefined]);
  blocked.note("GUILD_ROLE_UPDATE", { guild_id: "g1" });
  expect(blocked.reason("ada", "c1")).toBeUndefined();
  pass(10);
  blocked.add("ada", "c1", "g1", "no permission");
  pass(11 * 60_000);
  expect(blocked.reason("ada", "c1")).toBeUndefined();
});

test("memories of the platform are bounded", () => {
  const recent = createRecent<number>(3);
  for (let index = 0; index < 10; index += 1) recent.set(String(index), index);
  recent.get("7");
  recent.set("10", 10);
  expect([recent.size, recent.get("7"), recent.get("8")]).toEqual([3, 7, undefined]);
});

test("the directory learns places and roles from events and forgets what is deleted", () => {
  const directory = createDirectory();
  const roles = [{ id: "r1", name: "Ada", tags: { bot_id: "b1" } }];
  const channels = [{ id: "c1", type: 0, name: "general" }];
  const threads = [{ id: "t1", type: 11, name: "t", parent_id: "c1" }];
  directory.note("GUILD_CREATE", { id: "g1", name: "G", premium_tier: 2, roles, channels, threads });
  expect(directory.knownPlace("t1")).toEqual({ id: "t1", type: 11, name: "t", guildId: "g1", parentId: "c1" });
  expect(directory.knownGuild("g1")?.roles.get("r1")?.botUserId).toBe("b1");
  directory.note("GUILD_ROLE_DELETE", { guild_id: "g1", role_id: "r1" });
  directory.note("THREAD_DELETE", { id: "t1" });
  expect(directory.knownPlace("t1")).toBeUndefined();
  expect(directory.knownGuild("g1")?.roles.size).toBe(0);
  expect(fileLimit(directory.knownGuild("g1")?.tier ?? 0)).toBe(50 * 1024 * 1024);
});

test("nonces are short, stable, and different for different pieces", () => {
  expect(nonceOf({ id: "p1" })).toMatch(/^[a-z0-9]{25}$/);
  expect(nonceOf({ id: "p1" })).toBe(nonceOf({ id: "p1" }));
  expect(nonceOf({ id: "p1" })).not.toBe(nonceOf({ id: "p2" }));
});

test("a channel's exceptions for everyone, roles and the member are laid over the server's roles in that order", () => {
  const bit = (index: number) => String(1n << BigInt(index));
  const guild = {
    id: "g",
    owner_id: "o",
    roles: [
      { id: "g", permissions: bit(10) },
      { id: "r", permissions: bit(11) },
    ],
  };
  const overwrites = [
    { id: "g", deny: bit(10), allow: "0" },
    { id: "r", deny: bit(11), allow: bit(10) },
    { id: "m", deny: "0", allow: bit(15) },
  ];
  expect(permissionsIn(guild, { permission_overwrites: overwrites }, "m", ["r"])).toBe((1n << 10n) | (1n << 15n));
  expect(missingIn(permissionsIn(guild, {}, "o", []))).toEqual([]);
  expect(permissionsIn({ ...guild, roles: [{ id: "g", permissions: bit(3) }] }, {}, "m", [])).toBe(~0n);
  expect(invitePermissions(false)).toBe(274_878_286_912n);
  expect(invitePermissions(true)).toBe(309_238_025_280n);
});

class DiscordAPIError extends Error {
  readonly requestBody = { json: { content: "what was written" } };
  readonly status: number;
  readonly code: number;
  readonly rawError: object;
  constructor(status: number, code: number, rawError: object = {}) {
    super("what was written");
    this.status = status;
    this.code = code;
    this.rawError = rawError;
  }
}

test.each([
  [new DiscordAPIError(403, 50_013), "place"],
  [new DiscordAPIError(403, 50_007), "place"],
  [new DiscordAPIError(404, 10_003), "place"],
  [new DiscordAPIError(401, 0), "bot"],
  [new DiscordAPIError(400, 50_035), "content"],
  [new DiscordAPIError(413, 0), "content"],
  [new DiscordAPIError(400, 200_000), "content"],
  [new DiscordAPIError(429, 0, { retry_after: 2 }), "wait"],
  [new DiscordAPIError(429, 30_046), "wait"],
  [Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } }), "wait"],
  [Object.assign(new TypeError("fetch failed"), { cause: { code: "UND_ERR_SOCKET" } }), "unknown"],
  [new DOMException("late", "TimeoutError"), "unknown"],
  [new SyntaxError("Unexpected end of JSON"), "unknown"],
])("%s means %s", (error, problem) => {
  expect(problemOf(error).problem).toBe(problem);
});

test("errors tell where in the form the fault lies and never what was written", () => {
  const errors = {
    components: { 0: { label: { _errors: [{ code: "BASE_TYPE_BAD_LENGTH", message: "what was written" }] } } },
  };
  const failure = toDeliveryError(new DiscordAPIError(400, 50_035, { errors }));
  expect(failure.message).toContain("components.0.label (BASE_TYPE_BAD_LENGTH)");
  expect(`${failure.message}${String(failure.cause)}`).not.toContain("what was written");
});
