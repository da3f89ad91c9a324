/**
 * What a Slack workspace consists of, as the emulator keeps it: apps, people, channels, messages, files, views.
 * Invariant: `body` fields are exactly the JSON a client would see; everything the emulator needs beside it stays
 * outside `body`. Behaviour lives in the other files; this one only holds shapes.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Fields } from "../loopback.ts";

/** One Slack workspace. */
export interface Team {
  readonly id: string;
  readonly name: string;
}

/** A human, or the bot user of an app. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly handle: string;
  readonly team: Team;
  readonly isBot: boolean;
  readonly guest: boolean;
  readonly external: boolean;
  readonly timeZone: string;
  /** The bot profile of another company's bot. */
  readonly foreign?: { readonly id: string; readonly app_id: string; readonly name: string };
}

/** An installed app; `events` null = subscribed to everything its scopes allow. */
export interface App {
  readonly name: string;
  readonly appId: string;
  readonly botId: string;
  readonly userId: string;
  readonly user: User;
  readonly team: Team;
  readonly botToken: string;
  readonly appToken: string;
  readonly signingSecret: string;
  readonly mode: "socket" | "http";
  requestUrl: string | null;
  scopes: string[];
  events: string[] | null;
  /** Declared as agent: `agents.sessions.*` works and a stop button is shown. */
  agent: boolean;
  /** The app this is a further installation of: same app, sockets and secrets, another workspace, bot user and token. */
  readonly main: App | null;
  /** The organisation it is installed in as a whole, if it is. */
  readonly enterprise: Team | null;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Its tokens end after twelve hours and are renewed with a second one. */
  rotates: boolean;
  /** An error code every call with this app's tokens gets, for example `token_revoked`. */
  revoked: string | null;
}

/** A place to write. `members` holds user ids, bots included. */
export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly kind: "channel" | "group" | "im" | "mpim";
  readonly team: Team;
  readonly members: Set<string>;
  readonly messages: StoredMessage[];
  readonly createdAt: number;
  archived: boolean;
}

/** A message's JSON as clients get it. */
export interface MessageBody extends Fields {
  type: "message";
  ts: string;
  text: string;
  user?: string;
  bot_id?: string;
  app_id?: string;
  subtype?: string;
  thread_ts?: string;
  blocks?: Fields[];
  attachments?: Fields[];
  files?: Fields[];
  metadata?: Fields;
  edited?: { user: string; ts: string };
  username?: string;
}

/** A message with what Slack remembers about it. */
export interface StoredMessage {
  readonly channel: Channel;
  readonly app: App | null;
  body: MessageBody;
  deleted: boolean;
  streaming: boolean;
  /** Values people have entered in its inputs: block id → action id → value. */
  values: Record<string, Fields>;
  /** How Slack was told to read the text. */
  parse: string;
  linkNames: boolean;
  previews: boolean;
}

/** A file with its bytes; `shareLost` files never appear in a channel although the call succeeds. */
export interface StoredFile {
  readonly id: string;
  readonly app: App | null;
  readonly expected: number;
  bytes: Buffer | null;
  completed: boolean;
  shareLost: boolean;
  alt: string;
  body: Fields;
}

/** A modal (or home) on one person's screen. */
export interface StoredView {
  readonly id: string;
  readonly app: App;
  readonly user: User;
  readonly rootId: string;
  readonly previousId: string | null;
  hash: string;
  open: boolean;
  body: Fields;
}

/** One private notice only one person sees. */
export interface Ephemeral {
  readonly person: User;
  readonly app: App;
  readonly channel: Channel;
  readonly threadTs: string | null;
  readonly text: string;
  readonly blocks: Fields[];
  readonly at: number;
}

/** A status line set by `assistant.threads.setStatus` or `agents.sessions.setStatus`. */
export interface StatusLine {
  readonly app: App;
  readonly channel: Channel;
  readonly threadTs: string | null;
  readonly method: string;
  readonly status: string;
  readonly at: number;
}

/** One request the product made. `answer` is null while (or if never) answered. */
export interface SlackRequest {
  readonly method: string;
  args: Fields;
  token: string | null;
  app: App | null;
  readonly at: number;
  readonly headers: IncomingHttpHeaders;
  answer: Fields | null;
}

/** A request Slack refused, with its reasons; faults asked for by a test are not listed. */
export interface Refusal {
  readonly method: string;
  readonly error: string;
  readonly messages: string[];
  readonly args: Fields;
  readonly app: App | null;
  readonly at: number;
}

/** A button press, view submit or command may open a modal once, within the trigger's life. */
export interface Trigger {
  readonly app: App;
  readonly user: User;
  readonly at: number;
  readonly view: StoredView | null;
  used: boolean;
}

/** Where an interaction may be answered: 5 times in 30 minutes. */
export interface ResponseUrl {
  readonly app: App;
  readonly user: User;
  readonly channel: Channel;
  readonly message: StoredMessage | null;
  readonly at: number;
  uses: number;
}

/** A person's consent to add an app to a workspace, until its code is exchanged. */
export interface Grant {
  readonly app: App;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly at: number;
}

/** A user group (`@handle`). */
export interface Usergroup {
  readonly id: string;
  readonly handle: string;
  readonly users: string[];
}
