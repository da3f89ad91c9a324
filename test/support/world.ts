/**
 * A whole world for stories through the front door: the real product with its real Slack libraries and database, an emulated Slack workspace, and
 * scripted models over the wire. One line makes it, one line each says what people do and what they see.
 *
 *   await using world = await startWorld({ bots: ["Ada"], people: ["Alice", "Bob"] });
 *   world.script("Ada", answering((words) => `You said ${words}`));
 *   const asked = world.say("Alice", "@Ada are you there?");
 *   expect((await world.answer(asked)).text).toBe("You said @Ada are you there?");
 *   await world.quiet(); expect(world.answers(asked)).toHaveLength(1);
 *
 * Invariant: nothing waits for time, only for conditions; `quiet` resolves when every event is acknowledged and no row is left to be worked on.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Llm, type LlmRequest, type Script, startLlm } from "../emulators/llm/index.ts";
import {
  type App,
  type Channel,
  type Post,
  type SayOptions,
  type Slack,
  type SlackOptions,
  startSlack,
  type User,
} from "../emulators/slack/index.ts";
import type { Database } from "./database.ts";
import { echo } from "./scripts.ts";
import { createLife } from "./world-life.ts";
import { createWatch } from "./world-watch.ts";

/** What the world consists of; everything has a default. */
export interface WorldOptions {
  /** Names; ids are the lower-case names. Default: Ada. */
  readonly bots?: readonly string[];
  /** Default: Alice and Bob. */
  readonly people?: readonly string[];
  /** Bots that speak through another bot's app, by name. */
  readonly personas?: Readonly<Record<string, string>>;
  /** Laid over the settings file, block by block. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly botSettings?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly mode?: "socket" | "http";
  readonly slack?: SlackOptions;
  /** own: a process that `crash` can kill. Default: inside this one. */
  readonly process?: "inside" | "own";
  /** More of the command line, for example `--role worker`; only with `process: "own"`. */
  readonly args?: readonly string[];
  /** A workspace that exists already, for a second product on it; its owner closes it. */
  readonly beside?: World;
}

/** One product in its surroundings. */
export interface World extends AsyncDisposable {
  readonly slack: Slack;
  readonly llm: Llm;
  /** The channel everybody is in. */
  readonly general: Channel;
  readonly folder: string;
  readonly logs: string[];
  /** Address of the product's web server; changes with a restart. */
  url(): string;
  /** By name; without one, the first. */
  bot(name?: string): App;
  person(name?: string): User;
  script(bot: string, script: Script): void;
  /** Makes a channel with everybody, or with those named. */
  channel(name: string, members?: readonly string[]): Channel;
  /** Writes in a channel (general by default); "@Name" of a bot or person is a mention. */
  say(person: string, text: string, options?: SayOptions & { in?: Channel }): Post;
  /** Writes to a bot directly (the first by default). */
  dm(person: string, text: string, options?: SayOptions & { to?: string }): Post;
  /** The first answer below a message: in its thread, or after it in a direct conversation. */
  answer(to: Post, ms?: number): Promise<Post>;
  /** Waits for a condition; `what` names it in the error. */
  until<T>(look: () => T | null | undefined | false, what: string | (() => string), ms?: number): Promise<T>;
  /** The first request to a model that fits. */
  request(fits: (request: LlmRequest) => boolean, ms?: number): Promise<LlmRequest>;
  /** Resolves when every event that was sent is acknowledged. */
  acknowledged(): Promise<void>;
  /** All answers so far. */
  answers(to: Post): Post[];
  /** Resolves when everything that was started is finished. */
  quiet(ms?: number): Promise<void>;
  /** Rows that are still to be worked on; 0 = finished. */
  openWork(): Promise<number>;
  database(): Database;
  stop(): Promise<void>;
  /** kill -9, also of a product that is still starting; its `start` then rejects. */
  crash(): Promise<void>;
  start(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Longest time a world takes to start, on a machine that is busy with other things; for `beforeAll` and for tests that make one. */
export const START_MS = 120_000;

/** Starts a world; `await using` closes it. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const { beside } = options;
  const slack = beside?.slack ?? (await startSlack({ retryDelaysMs: [0, 300, 600], ...options.slack }));
  const llm = beside?.llm ?? (await startLlm({ fallback: echo }));
  const cast = beside ? castOf(slack) : hire(slack, options);
  const folder = mkdtempSync(join(tmpdir(), "parley-world-"));
  writeFileSync(join(folder, "parley.yaml"), JSON.stringify(settingsFor(options, slack, llm)));
  const life = createLife(options, folder, slack);
  const world = {
    slack,
    llm,
    general: cast.general,
    folder,
    ...createTalk(slack, cast),
    ...createWatch(slack, llm, life),
  };
  await life.start();
  const close = async () => {
    await life.stop();
    if (!beside) await Promise.all([slack.close(), llm.close()]);
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    ...world,
    logs: life.logs,
    url: life.url,
    script: (bot, script) => llm.script(idOf(bot), script),
    database: life.database,
    start: life.start,
    stop: life.stop,
    crash: life.crash,
    restart: async () => {
      await life.stop();
      await life.start();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Cast {
  readonly bots: readonly App[];
  readonly people: readonly User[];
  readonly general: Channel;
}

const idOf = (name: string) => name.toLowerCase();

function hire(slack: Slack, { bots = ["Ada"], people = ["Alice", "Bob"], mode = "socket" }: WorldOptions): Cast {
  const apps = bots.map((name) => slack.addApp({ name, mode }));
  const persons = people.map((name) => slack.addPerson(name));
  return { bots: apps, people: persons, general: slack.addChannel("general", [...apps, ...persons]) };
}

/** Everybody who is in the workspace already. */
function castOf(slack: Slack): Cast {
  const { apps, users, channels } = slack.workspace;
  const general = [...channels.values()].find((channel) => channel.name === "general");
  if (!general) throw new Error("the workspace has no channel called general");
  return { bots: apps, people: [...users.values()].filter((user) => !user.isBot), general };
}

function settingsFor(options: WorldOptions, slack: Slack, llm: Llm): object {
  const { settings = {}, bots = ["Ada"], personas = {}, botSettings = {} } = options;
  const base: Record<string, unknown> = {
    model: "local/ada",
    providers: { local: { kind: "openai-compatible", baseURL: llm.openaiUrl, apiKey: "any", contextWindow: 128_000 } },
    bots: [...bots, ...Object.keys(personas)].map((name) => ({
      id: idOf(name),
      name,
      role: `${name} helps the team of this test.`,
      model: `local/${idOf(name)}`,
      slack: personas[name]
        ? { personaOf: idOf(personas[name]), icon: ":owl:" }
        : credentialsOf(slack.workspace.apps.find((app) => app.name === name)),
      ...botSettings,
    })),
    slack: { apiUrl: slack.apiUrl },
    web: { port: 0 },
  };
  const merged = Object.entries(settings).map(([key, value]) => [
    key,
    Array.isArray(value) || typeof value !== "object" ? value : { ...(base[key] as object), ...value },
  ]);
  return { ...base, ...Object.fromEntries(merged) };
}

function credentialsOf(app: App | undefined): Record<string, string> {
  if (!app) throw new Error("a bot of these settings has no app in the workspace");
  return app.mode === "http"
    ? { botToken: app.botToken, signingSecret: app.signingSecret }
    : { botToken: app.botToken, appToken: app.appToken };
}

function createTalk(slack: Slack, cast: Cast) {
  const named = <T extends { name: string }>(all: readonly T[], name: string | undefined): T => {
    const found = name === undefined ? all[0] : all.find((one) => one.name === name);
    if (!found) throw new Error(`nobody here is called ${name}`);
    return found;
  };
  const bot = (name?: string) => named(cast.bots, name);
  const person = (name?: string) => named(cast.people, name);
  const withMentions = (text: string) =>
    text.replace(/(?<![\w`])@([A-Z]\w*)/g, (typed, name: string) => {
      const meant = [...cast.bots, ...cast.people].find((one) => one.name === name);
      return meant ? slack.mention(meant) : typed;
    });
  return {
    bot,
    person,
    channel: (name: string, members?: readonly string[]) =>
      slack.addChannel(
        name,
        [...cast.bots, ...cast.people].filter((one) => !members || members.includes(one.name)),
      ),
    say: (by: string, text: string, { in: place, ...options }: SayOptions & { in?: Channel } = {}) =>
      slack.say(person(by), place ?? cast.general, withMentions(text), options),
    dm: (by: string, text: string, { to, ...options }: SayOptions & { to?: string } = {}) =>
      slack.dm(person(by), bot(to), text, options),
  };
}
