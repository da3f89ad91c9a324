/**
 * What travels between the playground page and its server, as JSON. Types only, imported by both sides;
 * it depends on nothing, so the page does not depend on the engine's inside.
 * Invariant: nothing here carries a secret value or a storage address; files are named by the URL under which this server serves them.
 * Records of one channel are numbered 1, 2, 3 … without gaps, so a reader that holds number n has seen everything up to n.
 */

/** A question with choices; `min` and `max` only where several may be chosen. */
export interface WireWidget {
  readonly prompt: string;
  readonly options: readonly {
    readonly label: string;
    readonly value: string;
    readonly description?: string;
    readonly style: WireStyle;
  }[];
  readonly multiple?: { readonly min: number; readonly max: number };
  readonly allowCustom: boolean;
}

/** How a control looks. */
export type WireStyle = "default" | "primary" | "danger";

/** What a bot asks to be entrusted with. */
export interface WireSecret {
  readonly label: string;
  readonly description?: string;
  readonly connector: string;
  readonly field: string;
}

/** How a card ended. */
export interface WireOutcome {
  readonly state: "open" | "answered" | "dismissed" | "expired";
  readonly answer?: {
    readonly values: readonly string[];
    readonly labels: readonly string[];
    readonly custom?: string;
  };
  readonly byName?: string;
}

/** A bot a person can write to. `demo` bots run without a real model and are labelled so. */
export interface WireBot {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly demo: boolean;
}

/** A person of the playground; the id is the platform id. */
export interface WirePerson {
  readonly id: string;
  readonly name: string;
}

/** A place a person can read. `head` is the newest record's number, `read` the newest one this person has seen. */
export interface WireChannel {
  readonly id: string;
  readonly kind: "direct" | "channel";
  readonly name: string;
  /** Ids of the bots in it; a list because a channel may hold several. */
  readonly bots: readonly string[];
  readonly head: number;
  readonly read: number;
  /** Messages of others after `read`, counted up to 99. */
  readonly unread: number;
}

/** Answer of GET /api/state. `me` is null until a name was chosen. */
export interface WireState {
  readonly me: WirePerson | null;
  readonly bots: readonly WireBot[];
  readonly people: readonly WirePerson[];
  readonly channels: readonly WireChannel[];
  readonly working: readonly WireWorking[];
  /** Where live updates continue: pass it to GET /api/stream?after=. */
  readonly cursor: string;
}

/** A file as the page shows it; `url` is on this server. */
export interface WireFile {
  readonly url: string;
  readonly name: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  readonly alt?: string;
}

/** What a post shows. `html` is safe: Markdown rendered with raw HTML switched off. */
export type WireContent =
  | { readonly type: "message"; readonly text: string; readonly html: string; readonly files: readonly WireFile[] }
  | {
      readonly type: "text";
      readonly html: string;
      readonly images: readonly WireFile[];
      readonly document?: WireFile;
    }
  | { readonly type: "attachment"; readonly file: WireFile }
  | { readonly type: "widget"; readonly widget: WireWidget; readonly promptHtml: string; readonly helpHtml?: string }
  | { readonly type: "cursor-agent"; readonly bcId: string; readonly url: string }
  | { readonly type: "secret-request"; readonly secret: WireSecret }
  | {
      readonly type: "host-card";
      readonly html: string;
      readonly controls: readonly { readonly value: string; readonly label: string; readonly style: WireStyle }[];
      readonly link?: { readonly label: string; readonly url: string };
    };

/** Who wrote a post. */
export interface WireAuthor {
  readonly kind: "person" | "bot";
  readonly id: string;
  readonly name: string;
}

/** A reaction under a post. */
export interface WireReaction {
  readonly emoji: string;
  readonly byId: string;
  readonly byName: string;
}

/** One visible message. */
export interface WirePost {
  readonly type: "post";
  readonly channelId: string;
  readonly seq: number;
  /** ISO time, UTC. */
  readonly at: string;
  readonly author: WireAuthor;
  readonly content: WireContent;
  readonly cardId?: string;
  /** Number of the post it answers. */
  readonly replyTo?: number;
  /** The id the sender's page gave the message, so that it recognises its own. */
  readonly clientId?: string;
  readonly outcome?: WireOutcome;
  readonly reactions?: readonly WireReaction[];
}

/** One record of a channel's log, in order. */
export type WireRecord =
  | WirePost
  | {
      readonly type: "settle";
      readonly channelId: string;
      readonly seq: number;
      readonly target: number;
      readonly outcome: WireOutcome;
    }
  | {
      readonly type: "reaction";
      readonly channelId: string;
      readonly seq: number;
      readonly target: number;
      readonly reaction: WireReaction;
    }
  /** A channel was made or changed, or somebody chose a name: read the state again. */
  | { readonly type: "workspace"; readonly channelId: string; readonly seq: number };

/** A bot is at work in a channel until `until` (ISO), unless told otherwise. */
export interface WireWorking {
  readonly channelId: string;
  readonly botId: string;
  readonly botName: string;
  readonly until: string;
}

/** Answer of GET …/posts: posts in order, oldest first. `more` says that older ones exist. */
export interface WirePage {
  readonly posts: readonly WirePost[];
  readonly head: number;
  readonly first: number;
  readonly more: boolean;
}

/** What became of a message or a click; `reason` is for this person's eyes only. */
export interface WireReception {
  readonly status: "accepted" | "ignored" | "duplicate" | "refused";
  readonly reason?: string;
}

/** Every failed request answers with this. */
export interface WireError {
  readonly error: string;
}
