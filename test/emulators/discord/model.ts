/**
 * What a Discord consists of, as the emulator keeps it: applications, people, guilds, channels, messages, files,
 * interactions.
 * Invariant: `body` fields are exactly the JSON a client would see; everything the emulator needs beside it stays
 * outside `body`. Behaviour lives in the other files; this one only holds shapes.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Fields } from "../loopback.ts";

/** A human, a hosted bot's user (`bot` set), or somebody else's bot (`isBot` only). */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly isBot: boolean;
  bot: Bot | null;
  /** Closed: nobody can write them direct messages (50007). */
  dms: "open" | "closed";
}

/** One application with its bot. */
export interface Bot {
  readonly name: string;
  readonly applicationId: string;
  readonly userId: string;
  readonly user: User;
  token: string;
  /** The MESSAGE_CONTENT toggle of the developer portal. */
  messageContent: boolean;
  guildMembers: boolean;
  presences: boolean;
  /** True once the token was reset or revoked: 401 and close 4004. */
  revoked: boolean;
  interactionsEndpointUrl: string | null;
  description: string;
  /** Settings kept for `PATCH /applications/@me`. */
  settings: Fields;
  readonly identifies: { total: number; remaining: number; resetAt: number; lastAt: number };
  /** Commands by place: "" is global, otherwise a guild's id. */
  readonly commands: Map<string, Fields[]>;
  readonly commandCreates: Map<string, number>;
}

/** A server. `heldFor`: bots for which it is unavailable. */
export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly members: Map<string, Member>;
  readonly roles: Map<string, Role>;
  readonly channels: Channel[];
  readonly heldFor: Set<Bot>;
  readonly emojis: Fields[];
  ownerId: string;
  /** 0–3: boosts raise the upload limit. */
  tier: number;
}

/** Somebody in a guild. */
export interface Member {
  readonly user: User;
  readonly roles: Set<string>;
  readonly joinedAt: string;
  nick: string | null;
  /** Milliseconds since 1970; 0 = not timed out. */
  timedOutUntil: number;
}

/** A role; `bot` set = the managed role of that application. */
export interface Role {
  readonly id: string;
  readonly name: string;
  readonly guild: Guild;
  readonly position: number;
  readonly bot: Bot | null;
  permissions: bigint;
  mentionable: boolean;
}

/** Allowed and denied bits for one role or member. */
export interface Overwrite {
  readonly type: 0 | 1;
  allow: bigint;
  deny: bigint;
}

/** What only threads have. */
export interface Thread {
  archived: boolean;
  locked: boolean;
  autoArchive: number;
  readonly ownerId: string;
  readonly members: Set<string>;
  readonly createdAt: string;
  readonly tags: string[];
}

/** A place to write. `type` is Discord's number: 0 text, 1 DM, 4 category, 5 announcement, 11/12 threads, 15 forum. */
export interface Channel {
  readonly id: string;
  readonly type: number;
  readonly guild: Guild | null;
  readonly parent: Channel | null;
  readonly overwrites: Map<string, Overwrite>;
  readonly messages: StoredMessage[];
  readonly thread: Thread | null;
  /** The two sides of a DM. */
  readonly person: User | null;
  readonly bot: Bot | null;
  name: string;
  topic: string | null;
  deleted: boolean;
  /** Seconds between two messages of one author. */
  slowmode: number;
  tags: { id: string; name: string }[];
  requireTag: boolean;
}

/** A message's JSON as a client with every right gets it. */
export interface MessageBody extends Fields {
  id: string;
  channel_id: string;
  type: number;
  content: string;
  flags: number;
  author: Fields;
  timestamp: string;
  edited_timestamp: string | null;
  mentions: Fields[];
  mention_roles: string[];
  mention_everyone: boolean;
  attachments: Fields[];
  embeds: Fields[];
  components: Fields[];
  pinned: boolean;
  tts: boolean;
  nonce?: string | number;
  message_reference?: Fields;
  message_snapshots?: Fields[];
}

/** Who was really notified. `reply` is the author of the answered message, when that pinged. */
export interface Pings {
  readonly users: readonly User[];
  readonly roles: readonly Role[];
  readonly everyone: boolean;
  readonly reply: User | null;
}

/** A message with what Discord remembers about it. */
export interface StoredMessage {
  readonly channel: Channel;
  readonly author: User;
  /** The hosted bot that wrote it. */
  readonly bot: Bot | null;
  readonly body: MessageBody;
  /** Only this person sees it. */
  readonly onlyFor: User | null;
  readonly at: number;
  /** The message it answers or forwards. */
  readonly target: StoredMessage | null;
  readonly reactions: Map<string, Set<string>>;
  deleted: boolean;
  /** Union over its creation and all its edits. */
  pings: Pings;
  /** Laid over every event about it; `undefined` values remove a field. */
  overlay: Fields;
}

/** A file with its bytes; `gone` links answer 404. */
export interface StoredFile {
  readonly id: string;
  readonly channelId: string;
  readonly name: string;
  readonly bytes: Buffer;
  readonly type: string;
  readonly uploader: User;
  gone: boolean;
}

/** A click, a submitted modal or a command, and what the application made of it. */
export interface Interaction {
  readonly id: string;
  readonly token: string;
  /** 2 command, 3 component, 4 autocomplete, 5 modal. */
  readonly kind: number;
  readonly bot: Bot;
  readonly person: User;
  readonly channel: Channel;
  readonly message: StoredMessage | null;
  readonly at: number;
  readonly followups: StoredMessage[];
  response: { type: number; data: Fields; at: number } | null;
  /** What `@original` means. */
  original: StoredMessage | null;
  /** A deferred answer: the flags of the message that will come. */
  deferred: { flags: number } | null;
  /** The person was told that it failed. */
  failed: boolean;
}

/** A modal on somebody's screen. */
export interface OpenModal {
  readonly interaction: Interaction;
  readonly person: User;
  readonly data: Fields;
  open: boolean;
}

/** One file of a multipart request. */
export interface SentFile {
  readonly key: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** One request the product made. `status` 0 and `answer` undefined while (or if never) answered. */
export interface DiscordRequest {
  readonly method: string;
  /** Without the version: `/channels/1/messages`. */
  readonly path: string;
  /** With ids replaced: `POST /channels/:id/messages`. */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly bot: Bot | null;
  readonly at: number;
  body: Fields;
  files: readonly SentFile[];
  status: number;
  answer: unknown;
}

/** A request Discord refused, with its reasons; faults asked for by a test are not listed. */
export interface Refusal {
  readonly route: string;
  readonly status: number;
  readonly code: number;
  readonly message: string;
  /** `path: code` of a form error. */
  readonly problems: readonly string[];
  readonly body: Fields;
  readonly bot: Bot | null;
  readonly at: number;
}

/** One typing call. */
export interface Typing {
  readonly bot: Bot;
  readonly channel: Channel;
  readonly at: number;
}
