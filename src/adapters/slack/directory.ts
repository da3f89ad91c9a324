/**
 * Who is who in one workspace, asked from Slack and remembered for a while: people's names and kinds, user groups, channel names.
 * Invariant: an author's kind is never guessed. When Slack cannot say it just now the lookup fails, so that the event is delivered again;
 * when Slack will not say it at all, the person counts as a guest. Names are decoration and fall back to ids.
 */

import type { Clock, PersonKind } from "../../engine/index.ts";
import { type Fields, toFields, toText, toTexts } from "../shared/fields.ts";
import type { SlackCalls } from "./clients.ts";
import { problemOf } from "./errors.ts";
import type { Knowledge } from "./inbound.ts";
import type { Lookups } from "./inbound-kind.ts";

/** A person as Slack describes them. */
export interface DirectoryPerson {
  readonly name: string;
  readonly kind: PersonKind;
}

/** Whose workspace this is. */
export interface DirectoryHome {
  readonly workspaceId: string;
  readonly enterpriseId?: string;
}

/** Looks up and remembers. Contract: `learn` rejects only when an author is unknown and Slack may answer later. */
export interface Directory {
  learn(lookups: Lookups): Promise<Knowledge>;
  person(userId: string): Promise<DirectoryPerson>;
}

const PERSON_MS = 10 * 60_000;
const GROUP_MS = 5 * 60_000;
const CHANNEL_MS = 60 * 60_000;
const MAX_ENTRIES = 5000;
const MAX_MENTIONED = 20;
/** How long decoration may hold up an event. */
const NAME_WAIT_MS = 700;

interface Remembered<T> {
  readonly value: T;
  readonly until: number;
}

/** Remembers answers for a time and joins questions asked at the same moment. */
class Cache<T> {
  readonly #ttl: number;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Remembered<T>>();
  readonly #asking = new Map<string, Promise<T>>();

  constructor(ttl: number, clock: Clock) {
    this.#ttl = ttl;
    this.#clock = clock;
  }
  /** The remembered answer, also when it is old. */
  peek(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }
  /** A fresh answer. An old one is used when asking fails. */
  async get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known && known.until > this.#clock.now()) return known.value;
    try {
      return await this.#ask(key, ask);
    } catch (error) {
      if (known) return known.value;
      throw error;
    }
  }
  #ask(key: string, ask: () => Promise<T>): Promise<T> {
    const running = this.#asking.get(key);
    if (running) return running;
    const asked = ask()
      .then((value) => {
        this.#remember(key, value);
        return value;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
  }
  #remember(key: string, value: T): void {
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= MAX_ENTRIES && !oldest.done) this.#entries.delete(oldest.value);
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#clock.now() + this.#ttl });
  }
}

interface Group {
  readonly members: readonly string[];
}

/** The directory of one bot's workspace; `calls` are that bot's. */
export function createDirectory(calls: SlackCalls, home: DirectoryHome, clock: Clock): Directory {
  const people = new Cache<DirectoryPerson>(PERSON_MS, clock);
  const groups = new Cache<Group>(GROUP_MS, clock);
  const channels = new Cache<string>(CHANNEL_MS, clock);
  const person = (userId: string) => people.get(userId, () => askPerson(calls, home, clock, userId));
  const decorate = async (lookups: Lookups): Promise<void> => {
    const asks: Promise<unknown>[] = lookups.mentioned.slice(0, MAX_MENTIONED).map(person);
    asks.push(...lookups.groups.slice(0, MAX_MENTIONED).map((id) => groups.get(id, () => askGroup(calls, id))));
    const channelId = lookups.channelId;
    if (channelId !== undefined) asks.push(channels.get(channelId, () => askChannel(calls, channelId)));
    await Promise.race([Promise.allSettled(asks), clock.delay(NAME_WAIT_MS)]);
  };
  return {
    person,
    learn: async (lookups) => {
      const author = lookups.author;
      await Promise.all([author === undefined ? undefined : person(author), decorate(lookups)]);
      return {
        person: (id) => people.peek(id),
        channelName: (id) => channels.peek(id) || undefined,
        names: { user: (id) => people.peek(id)?.name, group: (id) => groups.peek(id) },
      };
    },
  };
}

const TRIES = 3;

/** Asks a few times, because an author must be known; gives the least authority when the answer is a lasting no. */
async function askPerson(
  calls: SlackCalls,
  home: DirectoryHome,
  clock: Clock,
  userId: string,
): Promise<DirectoryPerson> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = toFields(await calls.fast("users.info", { user: userId }));
      return describe(toFields(answer.user), home, userId);
    } catch (error) {
      const problem = problemOf(error);
      if (problem.problem !== "wait" && problem.problem !== "unknown") return { name: userId, kind: "guest" };
      if (attempt >= TRIES || problem.waitMs > 1500) throw error;
      await clock.delay(Math.max(problem.waitMs, 100 * attempt));
    }
  }
}

function describe(user: Fields, home: DirectoryHome, userId: string): DirectoryPerson {
  const profile = toFields(user.profile);
  const name = toText(profile.display_name) ?? toText(profile.real_name) ?? toText(user.real_name) ?? toText(user.name);
  return { name: name ?? userId, kind: kindOfUser(user, home) };
}

function kindOfUser(user: Fields, home: DirectoryHome): PersonKind {
  if (user.is_bot === true || user.is_workflow_bot === true) return "bot";
  if (user.is_stranger === true || isElsewhere(user, home)) return "external";
  return user.is_restricted === true || user.is_ultra_restricted === true ? "guest" : "member";
}

/** People of the same Enterprise organisation are at home in all its workspaces. */
function isElsewhere(user: Fields, home: DirectoryHome): boolean {
  const team = toText(user.team_id);
  if (team === undefined || team === home.workspaceId) return false;
  const enterprise = toText(toFields(user.enterprise_user).enterprise_id);
  return home.enterpriseId === undefined || (enterprise !== home.enterpriseId && team !== home.enterpriseId);
}

async function askGroup(calls: SlackCalls, groupId: string): Promise<Group> {
  const answer = toFields(await calls.fast("usergroups.users.list", { usergroup: groupId }));
  return { members: toTexts(answer.users) };
}

async function askChannel(calls: SlackCalls, channelId: string): Promise<string> {
  const answer = toFields(await calls.fast("conversations.info", { channel: channelId }));
  return toText(toFields(answer.channel).name) ?? "";
}
