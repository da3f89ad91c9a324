/**
 * Whole discussions over the real engine and the real store, by a schedule drawn from a seed: who talks how much, copies in any order and more than once,
 * a process that dies at any operation, further messages of people, private messages. Used by tests, which compare with the pure rules.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Installation } from "../../src/engine/bot.ts";
import { createSystemClock } from "../../src/engine/clock.ts";
import { createEngine, type Engine } from "../../src/engine/create-engine.ts";
import type { MessageEvent } from "../../src/engine/inbound-event.ts";
import { createScriptedModel, type Script, say } from "../../src/engine/model/scripted-model.ts";
import { createGuardedFetch } from "../../src/engine/net/guarded-fetch.ts";
import { createLocalRunQueue } from "../../src/engine/queue/local-run-queue.ts";
import type { EngineSettings } from "../../src/engine/settings.ts";
import type { SkillLibrary } from "../../src/engine/skill.ts";
import { createVaultCipher } from "../../src/engine/state/vault.ts";
import { createFolderBlobs } from "../../src/engine/store/folder-blobs.ts";
import { tools } from "../../src/tools/index.ts";
import { pause } from "../emulators/loopback.ts";
import { type Act, LIMITS } from "../engine/group/discussion-play.ts";
import { written } from "../engine/routing/addressing-parts.ts";
import { silentLog } from "../engine/store/silent-log.ts";
import type { StoreWorld } from "../engine/store/store-world.ts";
import { createRandom } from "./crash-rounds.ts";
import { OPEN_WORK } from "./database.ts";
import {
  createMortalStore,
  createPlatformAdapter,
  type Death,
  type Platform,
  userIdOf,
  VITAL,
} from "./group-platform.ts";

/** Bots of every schedule, in configured order. */
export const BOTS = ["ada", "bo", "cy", "dee", "eve", "fay"];

/** What members do, by bot and turn. */
export type Acts = (botId: string, turn: number) => Act;

/** One message of a person. */
export interface Words {
  readonly id: string;
  readonly by: "ann" | "bob";
  /** With `<@U_ADA|Ada>` for mentions. */
  readonly text: string;
  /** The message whose thread it continues; absent = it opens one. */
  readonly thread?: string;
  readonly direct?: string;
}

/** A running stage: the store and the platform outlive the engines on it. */
export interface Stage {
  readonly world: StoreWorld;
  readonly platform: Platform;
  /** Starts an engine; with `death`, one that dies. Those that went before must be dead or stopped. */
  start(acts: Acts, death?: Omit<Death, "onDeath">): Promise<Running>;
  /** Resolves when nothing is left to be done. */
  quiet(): Promise<void>;
}

/** An engine on the stage. */
export interface Running {
  readonly engine: Engine;
  readonly died: Promise<void>;
  /** Takes in the copies of these words that these bots got, in this order; a failed copy is what a dead process leaves. */
  hears(words: Words, channelId: string, copies: readonly string[]): Promise<void>;
}

const settings: EngineSettings = {
  orgId: "org",
  threads: "sticky",
  replies: { test: "thread" },
  access: {
    directMessages: "open",
    guests: "deny",
    external: "deny",
    people: [],
    admins: [],
    bots: "none",
    secretConnectors: "any",
  },
  limits: {
    ...{
      waitMs: 3000,
      debounceMs: 0,
      maxSteps: 200,
      turnMs: 600_000,
      ageingMs: 600_000,
      mailPerSession: 50,
      leaseMs: 60_000,
    },
    ...{ receiptWaitMs: 5000, bubblesPerTurn: 25, toolMs: 60_000, modelMs: 60_000, secretTtlMs: 3_600_000 },
  },
  groups: { activation: "all", channels: "all", maxMembers: 6, ...LIMITS, patienceMs: 120_000 },
  fallbackModels: [],
  sendMessageGuidance: true,
  publicUrl: "",
  localLinks: false,
};

const noSkills: SkillLibrary = {
  list: () => [],
  read: () => Promise.resolve({ ok: false, text: "There are no skills here." }),
  problems: () => [],
  refresh: () => Promise.resolve(),
};

/** A stage on this store; `close` of the store is its owner's. */
export async function openStage(world: StoreWorld): Promise<Stage & { close(): void }> {
  const dir = mkdtempSync(join(tmpdir(), "parley-schedules-"));
  const blobs = await createFolderBlobs({ dir });
  const platform: Platform = { posted: [], members: new Map() };
  const key = { id: "k", bytes: Buffer.alloc(32, 1) };
  const common = {
    ...{ blobs, tools, settings, clock: createSystemClock(), log: silentLog },
    files: { roots: [], secretPaths: [] },
    guardedFetch: createGuardedFetch({ allowPrivateHosts: [], log: silentLog }),
    cipher: createVaultCipher({ current: key, all: [key] }),
    metrics: { count: () => undefined, observe: () => undefined },
    skills: noSkills,
  };
  let started = 0;
  const start: Stage["start"] = async (acts, death) => {
    let onDeath: () => void = () => undefined;
    const died = new Promise<void>((resolve) => {
      onDeath = resolve;
    });
    const mortal = createMortalStore(world.store, death && { ...death, onDeath });
    const installations: Installation[] = [];
    const queue = createLocalRunQueue({ clock: common.clock, log: silentLog });
    started += 1;
    const models = { get: (name: string) => createScriptedModel({ name, script: scriptOf(name, acts) }) };
    const engine = createEngine({ ...common, store: mortal.store, queue, models, owner: `engine-${started}` });
    const adapter = createPlatformAdapter(platform, mortal.isDead, installations);
    await engine.syncBots(BOTS.map((id) => ({ id, name: nameOf(id), role: "", model: id, lanes: 4 })));
    for (const botId of BOTS) await engine.connect(adapter, { botId, name: nameOf(botId), role: "", settings: {} });
    await engine.run();
    const hears = async (words: Words, channelId: string, copies: readonly string[]) => {
      const events = copies.flatMap((botId) => {
        const own = installations.find((one) => one.botId === botId);
        return own ? [eventOf(words, channelId, own.id)] : [];
      });
      await Promise.allSettled(events.map((event) => engine.receive(event)));
    };
    return { engine, died, hears };
  };
  return {
    world,
    platform,
    start,
    quiet: () => quiet(world),
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** "ada" is called Ada. */
export function nameOf(botId: string): string {
  return botId.charAt(0).toUpperCase() + botId.slice(1);
}

function eventOf({ id, by, text, thread, direct }: Words, channelId: string, installationId: string): MessageEvent {
  const platformId = `U_${by.toUpperCase()}`;
  const place = { platform: "test", workspaceId: "W", channelId: direct ? `D_${by}_${direct}` : channelId };
  const kind = direct ? "direct" : thread ? "thread" : "channel";
  return {
    type: "message",
    dedupeKey: `test:W:${place.channelId}:${id}`,
    installationId,
    conversation: { ...place, kind, ...(thread ? { threadId: thread } : {}) },
    at: new Date(),
    from: { id: `test:W:${platformId}`, platformId, name: by, kind: "member" },
    platformId: id,
    ...written(text),
    quoted: [],
    everyone: false,
    namesBot: false,
    files: [],
    ...(kind === "channel" ? { opensThread: id } : {}),
  };
}

/** Decides from the request alone, so that a step that is asked for again after a crash gets the same answer. Every bubble has words of its own. */
function scriptOf(botId: string, acts: Acts): Script {
  return ({ messages }) => {
    const turns = messages.filter(
      ({ role, ...rest }) => role === "user" && /your turn in (a|this) Group/.test(textOf(rest)),
    );
    const at = messages.findLastIndex((message) => message.role === "user");
    const step = messages.slice(at + 1).filter((message) => message.role === "assistant").length;
    const turn = turns.length - 1;
    if (turn < 0) return step === 0 ? say(`${botId} in private`) : {};
    const { tries, calls = [], fails = false } = acts(botId, turn);
    if (fails) return { failure: { problem: "refused" } };
    const mentions = step === 0 ? calls.map((id) => ` @${nameOf(id)}`).join("") : "";
    return step < tries ? say(`${botId} turn ${turn} bubble ${step}${mentions}`) : {};
  };
}

function textOf(message: object): string {
  return "text" in message && typeof message.text === "string" ? message.text : "";
}

async function quiet({ pool }: StoreWorld): Promise<void> {
  const end = Date.now() + 60_000;
  for (;;) {
    const open = Number((await pool.query<{ open: string }>(OPEN_WORK)).rows[0]?.open);
    if (open === 0) return;
    if (Date.now() > end) throw new Error(`still ${open} open rows`);
    await pause(5);
  }
}

/** After a kill: what the dead process held is free at once, instead of when its leases have run out. */
export async function buryProcess({ pool }: StoreWorld): Promise<void> {
  await pool.query(`UPDATE "Session" SET "leaseUntil" = now() - interval '1 second' WHERE "owner" IS NOT NULL`);
  await pool.query(`UPDATE "SenderClaim" SET "leaseUntil" = now() - interval '1 second' WHERE "owner" <> ''`);
  await pool.query(
    `UPDATE "OutboxPiece" SET "attemptedAt" = "attemptedAt" - interval '1 hour' WHERE "state" = 'sending'`,
  );
}

/** Everything random of one schedule, from its seed. */
export function drawSchedule(seed: number) {
  const random = createRandom(seed);
  const upTo = (n: number) => Math.floor(random() * (n + 1));
  const some = (from: readonly string[], least: number) => {
    const shuffled = [...from].sort(() => random() - 0.5);
    const chosen = shuffled.slice(0, least + upTo(from.length - least));
    return from.filter((id) => chosen.includes(id));
  };
  const members = some(BOTS, 2);
  const named = random() < 0.3 ? some(members, 1) : [];
  const salt = upTo(1_000_000);
  const acts: Acts = (botId, turn) => {
    const own = createRandom(salt + BOTS.indexOf(botId) * 977 + turn * 7919);
    const owes = turn === 0 && named.includes(botId);
    const tries = Math.floor(own() * 4);
    const calls = own() < 0.25 ? members.filter(() => own() < 0.4) : [];
    const fails = !owes && own() < 0.06;
    return { tries: owes ? Math.max(1, tries) : tries, calls, fails };
  };
  const copies = () => {
    const twice = members.filter(() => random() < 0.3);
    return [...members, ...twice].sort(() => random() - 0.5);
  };
  const mentions = (ids: readonly string[]) => ids.map((id) => `<@${userIdOf(id)}|${nameOf(id)}> `).join("");
  const vital = () => VITAL[upTo(VITAL.length - 1)] ?? "commitSend";
  return {
    random,
    upTo,
    some,
    vital,
    members,
    named,
    selected: named.length > 0 ? named : members,
    acts,
    copies,
    mentions,
  };
}
