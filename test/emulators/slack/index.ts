/**
 * A Slack workspace on 127.0.0.1 that the real Slack clients connect to: Web API, file uploads, Socket Mode, signed
 * HTTP delivery, people who write and press. It refuses what Slack refuses, records everything, and makes trouble on
 * demand. It outlives the product, so restarts can be tested.
 * How to use it stands at `startSlack`.
 */
import { pause, startLoopback, waitUntil } from "../loopback.ts";
import type { Modal } from "./controls.ts";
import { closeModal, press, submit, toModal, topView } from "./controls.ts";
import { addApp, addChannel, addPerson, addUsergroup, userOf } from "./directory.ts";
import { joinChannel, leaveChannel } from "./events.ts";
import { addTeam, consent, installIn } from "./installs.ts";
import type { DeliveryRecord } from "./line.ts";
import type { App, Channel, Ephemeral, Refusal, SlackRequest, StatusLine, Team, User, Usergroup } from "./model.ts";
import type { Located, SayOptions } from "./people.ts";
import {
  addReaction,
  dmChannel,
  edit,
  erase,
  mention,
  openHome,
  pressStop,
  say,
  sayAsForeignBot,
  sendCommand,
  unfurl,
} from "./people.ts";
import type { Post, PostFilter } from "./posts.ts";
import { readTimeline, toPost } from "./posts.ts";
import { route } from "./routes.ts";
import { createSocketServer, pingAll } from "./socket-mode.ts";
import { currentStatus } from "./statuses.ts";
import type { Trouble } from "./trouble.ts";
import { createTrouble } from "./trouble.ts";
import type { Timing, Workspace } from "./workspace.ts";
import { findMessage, newId } from "./workspace.ts";

export type { Control } from "./block-text.ts";
export type { Modal, PressOptions, SubmitResult, Which } from "./controls.ts";
export type { AppOptions, PersonOptions } from "./directory.ts";
export type { Fault, Rule } from "./faults.ts";
export type { InteractionResult } from "./interactions.ts";
export type { DeliveryRecord } from "./line.ts";
export type { LiveMention } from "./mention-tokens.ts";
export type { App, Channel, Ephemeral, Refusal, SlackRequest, StatusLine, User } from "./model.ts";
export type { Located, SayOptions, Upload } from "./people.ts";
export type { Post, PostFile, PostFilter } from "./posts.ts";

/** Options of a workspace; times in milliseconds, defaults in `TIMING`. */
export interface SlackOptions extends Partial<Timing> {
  port?: number;
  teamName?: string;
  /** How often sockets are pinged. */
  pingMs?: number;
}

const TIMING: Timing = {
  ackTimeoutMs: 3000,
  retryDelaysMs: [0, 2000, 4000],
  keepUndeliveredMs: 360_000,
  shareDelayMs: 150,
  triggerMs: 3000,
  twinGapMs: 10,
};

/** A running workspace. */
export type Slack = Directory &
  Acts &
  Reading &
  Trouble & { url: string; apiUrl: string; port: number; workspace: Workspace; close(): Promise<void> };

type Directory = ReturnType<typeof createDirectory>;
type Acts = ReturnType<typeof createActs>;
type Reading = ReturnType<typeof createReading>;

/**
 * Starts a workspace; `close` it when the test ends.
 *
 *   const slack = await startSlack();                       // clients use slack.apiUrl; the page is at slack.url
 *   const ada = slack.addApp({ name: "Ada" });              // ada.botToken, ada.appToken, ada.signingSecret, ada.userId
 *   const alice = slack.addPerson("Alice");
 *   const general = slack.addChannel("general", [ada, alice]);
 *   const asked = slack.say(alice, general, `${slack.mention(ada)} hi`);        // message and app_mention go out
 *   slack.dm(alice, ada, "hello"); slack.say(alice, general, "more", { thread: asked, first: "app_mention", gapMs: 0 });
 *   const post = await slack.waitForPost((p) => p.text.includes("hello") && p.threadTs === asked.ts);
 *   await slack.press(alice, post, "Retry");                                    // also choose: "B", type: "text"
 *   const modal = await slack.waitForModal(alice); await slack.submit(alice, { Token: "s3cret" });
 *   slack.posts(general), slack.timeline(general), slack.calls("chat.postMessage"), slack.refusals, slack.deliveries
 *   slack.fail("chat.postMessage", { acceptThen: "drop" }, { times: 2, app: ada });
 *   slack.disturb({ duplicate: 1, event: "message" }, { app: ada });            // drop, delayMs, ignoreAck
 *   slack.disconnect(ada, "refresh_requested"); slack.cut(ada); slack.silence(ada); slack.refuseSockets(ada, true);
 *   await slack.close();
 *
 * HTTP apps: `addApp({ name, mode: "http", requestUrl })` (`app.requestUrl` may change), `slack.verifyUrl`, `slack.forge`.
 * Retries come 0, 2 and 4 s after a missed acknowledgement (Slack: 0, 1 min, 5 min); see `SlackOptions` to change it.
 */
export async function startSlack(options: SlackOptions = {}): Promise<Slack> {
  const { port, teamName, pingMs, ...timing } = options;
  const workspace = newWorkspace(teamName ?? "Emulated", { ...TIMING, ...timing });
  const loopback = await startLoopback((arrived) => route(workspace, arrived), port);
  workspace.base = loopback.base;
  loopback.server.on("upgrade", createSocketServer(workspace));
  const pings = setInterval(() => pingAll(workspace), pingMs ?? 5000);
  const close = async () => {
    workspace.closed = true;
    clearInterval(pings);
    for (const timer of workspace.timers) clearTimeout(timer);
    await closeSockets(workspace);
    await loopback.close();
  };
  const address = { url: `${loopback.base}/`, apiUrl: `${loopback.base}/api/`, port: loopback.port };
  return {
    ...createDirectory(workspace),
    ...createActs(workspace),
    ...createReading(workspace),
    ...createTrouble(workspace),
    ...address,
    workspace,
    close,
  };
}

/** Says goodbye properly, so that clients do not report a broken connection; cuts what has not gone in time. */
async function closeSockets(workspace: Workspace): Promise<void> {
  const links = [...workspace.lines.values()].flatMap((line) => line.links);
  for (const link of links) link.socket.close(1001);
  const end = Date.now() + 200;
  while (Date.now() < end && links.some((link) => link.socket.readyState !== link.socket.CLOSED)) await pause(2);
  for (const link of links) link.socket.terminate();
}

function newWorkspace(teamName: string, timing: Timing): Workspace {
  return {
    base: "",
    timing,
    team: { id: newId("T"), name: teamName },
    apps: [],
    users: new Map(),
    channels: new Map(),
    files: new Map(),
    views: [],
    triggers: new Map(),
    responseUrls: new Map(),
    usergroups: new Map(),
    requests: [],
    refusals: [],
    ephemerals: [],
    statuses: [],
    deliveries: [],
    faults: [],
    disturbances: [],
    lines: new Map(),
    tickets: new Map(),
    refusedUpgrades: new Set(),
    grants: new Map(),
    timers: new Set(),
    lastMicros: 0,
    lostShares: 0,
    closed: false,
  };
}

function createDirectory(workspace: Workspace) {
  return {
    team: workspace.team,
    addApp: (options: Parameters<typeof addApp>[1]): App => addApp(workspace, options),
    addPerson: (name: string, options?: Parameters<typeof addPerson>[2]): User => addPerson(workspace, name, options),
    /** Members may be apps and people; `{ private: true }`, `{ archived: true }`. */
    addChannel: (name: string, members: readonly (App | User)[], options?: Parameters<typeof addChannel>[3]): Channel =>
      addChannel(workspace, name, members, options),
    addUsergroup: (handle: string, members: readonly (App | User)[]): Usergroup =>
      addUsergroup(workspace, handle, members),
    /** Adds a member later; the apps in the channel hear `member_joined_channel`. */
    invite: (channel: Channel, member: App | User, by?: User): void =>
      joinChannel(workspace, channel, userOf(member), by ?? null),
    /** Takes a member out; the apps in the channel hear `member_left_channel`. */
    expel: (channel: Channel, member: App | User): void => leaveChannel(workspace, channel, userOf(member)),
    /** Another workspace that apps can be added to. */
    addTeam,
    /** Adds an app to another workspace (or a whole organisation) directly; gives the installation with its own token and bot user. */
    installIn: (app: App, team: Team, options?: Parameters<typeof installIn>[3]): App =>
      installIn(workspace, app, team, options),
    /** A person says yes on the consent page `location` points to; gives the address their browser is sent back to. */
    consent: (location: string, team: Team, options?: Parameters<typeof consent>[3]): URL =>
      consent(workspace, location, team, options),
    /** `<@U…>` for `say`. */
    mention,
    /** `<!subteam^S…>` for `say`. */
    mentionGroup: (group: Usergroup): string => `<!subteam^${group.id}>`,
    dmChannel: (person: User, app: App): Channel => dmChannel(workspace, person, app),
  };
}

function createActs(workspace: Workspace) {
  return {
    say: (person: User, channel: Channel, typed: string, options?: SayOptions): Post =>
      say(workspace, person, channel, typed, options),
    dm: (person: User, app: App, typed: string, options?: SayOptions): Post =>
      say(workspace, person, dmChannel(workspace, person, app), typed, options),
    sayAsForeignBot: (name: string, channel: Channel, text: string, options?: SayOptions): Post =>
      sayAsForeignBot(workspace, name, channel, text, options),
    edit: (place: Located, typed: string): Post => edit(workspace, place, typed),
    erase: (place: Located): void => erase(workspace, place),
    unfurl: (place: Located, url?: string): void => unfurl(workspace, place, url),
    react: (person: User, place: Located, name: string): void => addReaction(workspace, person, place, name),
    openHome: (person: User, app: App, tab?: "messages" | "home"): void => openHome(workspace, person, app, tab),
    pressStop: (person: User, app: App, place: Located): void => pressStop(workspace, person, app, place),
    command: (person: User, app: App, channel: Channel, command: string, text?: string) =>
      sendCommand(workspace, person, app, channel, command, text),
    /** Presses or changes a control; resolves when the app acknowledged, or failed to in time. */
    press: (
      person: User,
      place: Located | Post,
      which: Parameters<typeof press>[3],
      options?: Parameters<typeof press>[4],
    ) => press(workspace, person, place, which, options),
    /** Submits the person's topmost modal; `by` forges another sender. */
    submit: (person: User, values: Parameters<typeof submit>[2], by?: User) => submit(workspace, person, values, by),
    closeModal: (person: User): Promise<void> => closeModal(workspace, person),
  };
}

function createReading(workspace: Workspace) {
  const posts = (channel?: Channel, filter?: PostFilter) =>
    readTimeline(workspace, channel, filter).filter((post) => post.app !== null);
  return {
    requests: workspace.requests as readonly SlackRequest[],
    refusals: workspace.refusals as readonly Refusal[],
    ephemerals: workspace.ephemerals as readonly Ephemeral[],
    statuses: workspace.statuses as readonly StatusLine[],
    deliveries: workspace.deliveries as readonly DeliveryRecord[],
    /** Messages of apps, oldest first. */
    posts,
    /** Messages of everybody, oldest first. */
    timeline: (channel?: Channel, filter?: PostFilter): Post[] => readTimeline(workspace, channel, filter),
    /** The message as it is now; null when deleted. */
    read: (place: Located): Post | null => {
      const message = findMessage(place.channel, place.ts);
      return message && !message.deleted ? toPost(workspace, message) : null;
    },
    calls: (method: string, app?: App): SlackRequest[] =>
      workspace.requests.filter((request) => request.method === method && (!app || request.app === app)),
    /** The first post of an app that fits; throws with all posts after `ms`. */
    waitForPost: (fits: (post: Post) => boolean = () => true, ms = 5000): Promise<Post> =>
      waitUntil(
        () => posts().find(fits),
        () =>
          `a post; there are: ${
            posts()
              .map((post) => JSON.stringify(post.text.slice(0, 200)))
              .join(", ") || "none"
          }`,
        ms,
      ),
    waitForModal: (person: User, ms = 5000): Promise<Modal> =>
      waitUntil(() => modalOf(workspace, person), `a modal for ${person.name}`, ms),
    modal: (person: User): Modal | null => modalOf(workspace, person),
    /** Private notices for one person. */
    noticesFor: (person: User): Ephemeral[] => workspace.ephemerals.filter((notice) => notice.person === person),
    /** The "is working…" line now shown under a thread, or "". */
    status: (app: App, place: Located): string =>
      currentStatus(workspace, app, place.channel, findMessage(place.channel, place.ts)?.body.thread_ts ?? place.ts),
    /** Open sockets of an app; resolves `waitForSocket` when there is one. */
    sockets: (app: App): number => workspace.lines.get(app)?.links.length ?? 0,
    waitForSocket: (app: App, ms = 5000): Promise<true> =>
      waitUntil(() => (workspace.lines.get(app)?.links.length ?? 0) > 0, `a socket of ${app.name}`, ms),
    waitUntil,
    /** Resolves when nothing was requested for `quietMs`: the product has finished reacting. */
    settle: async (quietMs = 300): Promise<void> => {
      for (let seen = -1; seen !== workspace.requests.length; ) {
        seen = workspace.requests.length;
        await pause(quietMs);
      }
    },
  };
}

function modalOf(workspace: Workspace, person: User): Modal | null {
  const view = topView(workspace, person);
  return view ? toModal(view) : null;
}
