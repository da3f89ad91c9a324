/** One emulated Slack with the real adapter on it, without an engine: tests say what `receive` answers and look at what was handed over. */

import type { CatchUpOptions } from "../../src/adapters/slack/catch-up.ts";
import { createSlackAdapter } from "../../src/adapters/slack/index.ts";
import { DEFAULT_SUPERVISION, type SupervisorOptions } from "../../src/adapters/slack/supervisor.ts";
import type {
  Adapter,
  AdapterContext,
  AdapterRoute,
  ConversationRef,
  FileRef,
  GuardedFetch,
  InboundEvent,
  MessageEvent,
  Place,
  Reception,
  SecretValue,
} from "../../src/engine/index.ts";
import {
  type App,
  type Channel,
  type Slack,
  type SlackOptions,
  startSlack,
  type User,
} from "../emulators/slack/index.ts";
import { createSlackContext, installationOf } from "./slack-context.ts";

/** Options: which bots there are, how connections are watched. */
export interface SlackWorldOptions {
  readonly bots?: readonly string[];
  readonly mode?: "socket" | "http";
  readonly supervision?: Partial<SupervisorOptions>;
  readonly catchUp?: CatchUpOptions;
  readonly slack?: SlackOptions;
  readonly scopes?: string[];
  /** False: the test starts the adapter itself. */
  readonly start?: boolean;
}

export interface SlackWorld {
  readonly slack: Slack;
  readonly adapter: Adapter;
  readonly bots: readonly App[];
  readonly ada: App;
  readonly alice: User;
  readonly bob: User;
  readonly general: Channel;
  readonly context: AdapterContext;
  readonly received: InboundEvent[];
  readonly logs: string[];
  readonly metrics: string[];
  readonly route: () => AdapterRoute | undefined;
  readonly routes: readonly AdapterRoute[];
  /** Kept by the adapter, by key. */
  readonly credentials: ReadonlyMap<string, SecretValue>;
  /** What the download guard does; the default refuses everything. */
  guardWith(guard: GuardedFetch): void;
  receiveWith(answer: (event: InboundEvent) => Promise<Reception>): void;
  /** Stops the adapter and gives a new one on the same stored state, as after a restart. */
  restarted(): Promise<Adapter>;
  /** Moves the adapter's clock ahead. */
  later(ms: number): void;
  installation(app: App | undefined): string;
  startBot(app: App, secrets?: Record<string, string>): Promise<void>;
  placeFor(event: MessageEvent): Place;
  placeIn(ref: Partial<ConversationRef> & Pick<ConversationRef, "kind" | "channelId">, app?: App): Place;
  file(name: string, mediaType: string, bytes: string): FileRef;
  message(text: string): Promise<MessageEvent>;
  close(): Promise<void>;
}

/** Starts Slack, the bots, two people and a channel they are all in. */
export async function openSlackWorld(options: SlackWorldOptions = {}): Promise<SlackWorld> {
  const slack = await startSlack({ retryDelaysMs: [0, 100, 200], ...options.slack });
  const mode = options.mode ?? "socket";
  const bots = (options.bots ?? ["Ada"]).map((name) =>
    slack.addApp({ name, mode, ...(options.scopes ? { scopes: options.scopes } : {}) }),
  );
  const [ada] = bots;
  if (!ada) throw new Error("a world needs a bot");
  const alice = slack.addPerson("Alice");
  const bob = slack.addPerson("Bob");
  const general = slack.addChannel("general", [...bots, alice, bob]);
  const state = createSlackContext();
  const newAdapter = () => adapterFor(slack, options);
  const adapters = [newAdapter()];
  const [adapter] = adapters;
  if (!adapter) throw new Error("a world needs an adapter");
  const startBot = (app: App, secrets?: Record<string, string>) =>
    adapter.start(
      { botId: app.name.toLowerCase(), name: app.name, role: "Tester", settings: secrets ?? secretsOf(app) },
      state.context,
    );
  const world: SlackWorld = {
    slack,
    adapter,
    bots,
    ada,
    alice,
    bob,
    general,
    ...state,
    startBot,
    restarted: async () => {
      await adapters.at(-1)?.stop();
      const next = newAdapter();
      adapters.push(next);
      return next;
    },
    installation,
    placeIn: (ref, app = ada) => ({
      installationId: installation(app),
      ref: { platform: "slack", workspaceId: app.team.id, ...ref },
    }),
    placeFor: (event) => placeFor(event),
    message: (text) =>
      slack.waitUntil(
        () => state.received.find((one): one is MessageEvent => one.type === "message" && one.text.includes(text)),
        `the message ${text}`,
        9000,
      ),
    close: async () => {
      await Promise.all(adapters.map((one) => one.stop()));
      await slack.close();
    },
  };
  if (options.start !== false) for (const app of bots) await startBot(app);
  return world;
}

function adapterFor(slack: Slack, options: SlackWorldOptions): Adapter {
  return createSlackAdapter({
    apiUrl: slack.apiUrl,
    ...(options.catchUp ? { catchUp: options.catchUp } : {}),
    supervision: { ...DEFAULT_SUPERVISION, backoffMs: [20, 50, 100], refusedMs: 150, ...options.supervision },
  });
}

function secretsOf(app: App): Record<string, string> {
  return app.mode === "http"
    ? { botToken: app.botToken, signingSecret: app.signingSecret }
    : { botToken: app.botToken, appToken: app.appToken };
}

/** As the router does it: a channel message is answered in the thread it opens, a direct one below itself. */
function placeFor(event: MessageEvent): Place {
  const { conversation, opensThread, installationId } = event;
  if (conversation.kind === "channel" && opensThread !== undefined) {
    return { installationId, ref: { ...conversation, kind: "thread", threadId: opensThread } };
  }
  return { installationId, ref: conversation, ...(opensThread === undefined ? {} : { nativeReplyTo: opensThread }) };
}

/** The id of an app's installation; undefined apps have none. */
function installation(app: App | undefined): string {
  return app ? installationOf(app.appId, app.enterprise?.id ?? app.team.id) : "none";
}
