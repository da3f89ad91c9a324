/**
 * Random schedules over the real engine and store (SPEC G3, G9, G10, G12): whatever the order of copies and wherever a process dies, a discussion is the
 * one that the pure rules play. The seed of a schedule is in its test's name.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pause } from "../../emulators/loopback.ts";
import { userIdOf } from "../../support/group-platform.ts";
import { type Acts, buryProcess, drawSchedule, openStage, type Stage } from "../../support/group-schedules.ts";
import { openOnEmbedded, type StoreWorld } from "../store/store-world.ts";
import { play } from "./discussion-play.ts";

let world: StoreWorld;
let stage: Stage & { close(): void };
beforeAll(async () => {
  world = await openOnEmbedded();
  stage = await openStage(world);
}, 60_000);
afterAll(async () => {
  stage?.close();
  await world?.close();
});

const seeds = (from: number, count: number) => Array.from({ length: count }, (_seed, at) => from + at);

interface Outcome {
  readonly said: readonly string[];
  readonly posted: readonly string[];
  /** Of the first discussion, and of all. */
  readonly state: { readonly endReason: string | null; readonly epoch: number; readonly total: number };
  readonly all: readonly Outcome["state"][];
}

async function outcomeIn(channelId: string, from: number): Promise<Outcome> {
  const said = await world.pool.query<{ text: string }>(
    `SELECT "text" FROM "Entry" WHERE "kind" = 'bubble' AND "conversationKey" LIKE $1 ORDER BY "seq"`,
    [`test:W:${channelId}:%`],
  );
  const { rows } = await world.pool.query<{ state: Outcome["state"] }>(
    `SELECT "state" FROM "Discussion" WHERE "channelId" = $1 ORDER BY "createdAt"`,
    [`test:W:${channelId}`],
  );
  const [first] = rows;
  if (!first) throw new Error("no discussion began");
  const posted = stage.platform.posted
    .slice(from)
    .map((one) => one.text)
    .filter((text) => / (turn|private)/.test(text));
  return { said: said.rows.map((one) => one.text), posted, state: first.state, all: rows.map((row) => row.state) };
}

describe("one message, copies in any order, a process that dies anywhere: exactly the discussion of the pure rules", () => {
  test.each(seeds(1, 40))("seed %i", async (seed) => {
    const schedule = drawSchedule(seed);
    const channelId = `C${seed}`;
    const from = stage.platform.posted.length;
    stage.platform.members.set(channelId, schedule.members.map(userIdOf));
    const words = { id: `m${seed}`, by: "ann" as const, text: `${schedule.mentions(schedule.named)}discuss ${seed}` };
    const dies = seed % 4 !== 0;
    const death = { on: schedule.vital(), at: 1 + schedule.upTo(7), afterCommit: schedule.random() < 0.5 };
    let running = await stage.start(schedule.acts, dies ? death : undefined);
    await running.hears(words, channelId, schedule.copies());
    await Promise.race([running.died, stage.quiet()]);
    if (dies) {
      await running.engine.stop(0);
      await buryProcess(world);
      running = await stage.start(schedule.acts);
      // What was never acknowledged is brought again.
      await running.hears(words, channelId, schedule.copies());
    }
    await stage.quiet();
    await running.engine.stop(0);
    const { said, posted, state } = await outcomeIn(channelId, from);
    const expected = play(schedule.members, schedule.selected, schedule.acts);
    expect(said.map((text) => text.split(" ")[0])).toEqual(expected.said);
    expect(posted).toEqual(said);
    expect(new Set(said).size).toBe(said.length);
    expect(state).toMatchObject({ endReason: expected.state.endReason, total: expected.state.total });
  });
});

describe("people write again, in the thread and in private, some stop it, and a process dies: within the limits, everybody heard, nothing twice", () => {
  test.each(seeds(501, 20))("seed %i", async (seed) => {
    const schedule = drawSchedule(seed);
    const { members, random, upTo, mentions } = schedule;
    const channelId = `C${seed}`;
    const from = stage.platform.posted.length;
    stage.platform.members.set(channelId, members.map(userIdOf));
    const opening = { id: `m${seed}`, by: "ann" as const, text: `discuss ${seed}` };
    const again = random() < 0.6 ? schedule.some(members, 1) : [];
    const by = random() < 0.5 ? ("ann" as const) : ("bob" as const);
    const stops = random() < 0.25;
    const text = stops ? "!stop" : `${mentions(again)}and now?`;
    const second = { id: `n${seed}`, by, text, thread: opening.id };
    const friend = members[upTo(members.length - 1)] ?? "ada";
    const aside = { id: `d${seed}`, by: "bob" as const, text: "between us", direct: friend };
    const acts: Acts = (botId, turn) => {
      const act = schedule.acts(botId, turn);
      return again.includes(botId) ? { ...act, tries: Math.max(1, act.tries), fails: false } : act;
    };

    let running = await stage.start(acts, { on: schedule.vital(), at: 1 + upTo(9), afterCommit: random() < 0.5 });
    await running.hears(opening, channelId, schedule.copies());
    const moment = new AbortController();
    await Promise.race([running.died, stage.quiet(), said(from, upTo(4), moment.signal)]);
    moment.abort();
    await Promise.all([running.hears(second, channelId, schedule.copies()), running.hears(aside, channelId, [friend])]);
    await Promise.race([running.died, stage.quiet()]);
    await running.engine.stop(0);
    await buryProcess(world);
    running = await stage.start(acts);
    for (const words of [aside, second, opening]) {
      await running.hears(words, channelId, words === aside ? [friend] : schedule.copies());
    }
    await stage.quiet();
    await running.engine.stop(0);

    const outcome = await outcomeIn(channelId, from);
    const bubbles = outcome.posted.filter((line) => line.includes(" turn "));
    expect(new Set(bubbles).size).toBe(bubbles.length);
    expect([...bubbles].sort()).toEqual([...outcome.said].sort());
    expect(outcome.posted.filter((line) => line === `${friend} in private`)).toHaveLength(1);
    expect(outcome.all.every((state) => state.endReason !== null && state.total <= 10)).toBe(true);
    expect(bubbles.length).toBeLessThanOrEqual(20);
    if (!stops) expect(await unheard(channelId, again.length > 0 ? again : members)).toEqual([]);
  });
});

/** Resolves when so many messages of members stand on the platform, or nobody waits for that any more. */
async function said(from: number, count: number, over: AbortSignal): Promise<void> {
  const isSaid = () => stage.platform.posted.slice(from).filter((one) => one.text.includes(" turn ")).length >= count;
  while (!isSaid() && !over.aborted) await pause(2);
}

/** Of these members, those that had no turn in the newest epoch of the newest discussion. */
async function unheard(channelId: string, chosen: readonly string[]): Promise<readonly string[]> {
  const rows = await world.pool.query<{ botId: string }>(
    `SELECT t."botId" FROM "Turn" t JOIN "Session" s ON s."id" = t."sessionId" JOIN "Conversation" c ON c."key" = s."conversationKey"
     JOIN LATERAL (SELECT * FROM "Discussion" WHERE "channelId" = 'test:W:' || $1 ORDER BY "createdAt" DESC LIMIT 1) d ON true
     WHERE c."channelId" = $1 AND t."discussionId" = d."id" AND t."epoch" = d."epoch"`,
    [channelId],
  );
  return chosen.filter((id) => !rows.rows.some((row) => row.botId === id));
}
