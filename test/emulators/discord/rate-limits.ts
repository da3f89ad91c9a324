/**
 * Discord's limits: a global one per bot, a bucket per route and channel, and the lock-out of addresses that keep
 * sending invalid requests.
 * Invariant: every answer of a limited route carries the x-ratelimit headers; a 429 says when to come back.
 */
import { createHash } from "node:crypto";
import type { Fields } from "../loopback.ts";
import type { DiscordRequest } from "./model.ts";
import type { Limit, World } from "./world.ts";

/** What to answer when a limit is reached; `body` null is the proxy's own page. */
export interface Limited {
  readonly headers: Record<string, string>;
  readonly body: Fields | null;
}

/** Counts the request; `limited` is set when it must be turned away, `headers` go on every answer. */
export function countRequest(
  world: World,
  request: DiscordRequest,
): { limited: Limited | null; headers: Record<string, string> } {
  const invalid = recent(world.invalidAt, world.limits.invalid.windowMs);
  if (invalid >= world.limits.invalid.limit)
    return { limited: { headers: { "retry-after": "600" }, body: null }, headers: {} };
  if (isExempt(request)) return { limited: null, headers: {} };
  const global = spend(world, `global:${request.bot?.applicationId}`, world.limits.global);
  if (global !== null) return { limited: limitedAnswer(global, "global", {}), headers: {} };
  const key = `${request.bot?.applicationId}:${request.route}:${majorOf(request.path)}`;
  const limit = limitOf(world, request.route);
  const wait = spend(world, key, limit);
  const headers = bucketHeaders(world, key, request, limit);
  return { limited: wait === null ? null : limitedAnswer(wait, "user", headers), headers };
}

/** Interaction callbacks and their webhooks have no part in the limits. */
function isExempt(request: DiscordRequest): boolean {
  return request.bot === null || request.path.startsWith("/interactions/") || request.path.startsWith("/webhooks/");
}

function limitOf(world: World, route: string): Limit {
  if (route === "POST /channels/:id/messages") return world.limits.message;
  return route.includes("/reactions/") ? world.limits.reaction : world.limits.route;
}

/** The channel, guild or webhook that has a bucket of its own. */
function majorOf(path: string): string {
  return /^\/(?:channels|guilds|webhooks)\/(\d+)/.exec(path)?.[1] ?? "global";
}

function recent(times: number[], windowMs: number): number {
  const start = Date.now() - windowMs;
  while ((times[0] ?? Number.POSITIVE_INFINITY) <= start) times.shift();
  return times.length;
}

/** Null when it fits; otherwise the milliseconds to wait. */
function spend(world: World, key: string, { limit, windowMs }: Limit): number | null {
  const times = world.buckets.get(key) ?? [];
  world.buckets.set(key, times);
  if (recent(times, windowMs) >= limit) return Math.max(1, (times[0] ?? 0) + windowMs - Date.now());
  times.push(Date.now());
  return null;
}

function bucketHeaders(world: World, key: string, request: DiscordRequest, { limit, windowMs }: Limit) {
  const times = world.buckets.get(key) ?? [];
  const resetAt = (times[0] ?? Date.now()) + windowMs;
  return {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(Math.max(0, limit - times.length)),
    "x-ratelimit-reset": (resetAt / 1000).toFixed(3),
    "x-ratelimit-reset-after": Math.max(0.001, (resetAt - Date.now()) / 1000).toFixed(3),
    "x-ratelimit-bucket": createHash("sha256").update(request.route).digest("hex").slice(0, 32),
  };
}

/** The 429 for a wait in milliseconds. */
export function limitedAnswer(
  waitMs: number,
  scope: "user" | "global" | "shared",
  headers: Record<string, string>,
): Limited {
  const seconds = waitMs / 1000;
  return {
    headers: {
      ...headers,
      "retry-after": String(Math.ceil(seconds)),
      "x-ratelimit-scope": scope,
      ...(scope === "global" ? { "x-ratelimit-global": "true" } : {}),
      via: "1.1 google",
    },
    body: { message: "You are being rate limited.", retry_after: seconds, global: scope === "global" },
  };
}
