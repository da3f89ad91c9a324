/**
 * The settings the engine needs, as values; src/config.ts reads and checks them. Durations are milliseconds.
 */

export interface EngineSettings {
  readonly orgId: string;
  readonly threads: "sticky" | "strict" | "always";
  /** Reply mode at first contact, by platform (SPEC I4). */
  readonly replies: Readonly<Record<string, "thread" | "channel">>;
  readonly access: AccessSettings;
  readonly limits: LimitSettings;
  readonly groups: GroupsSettings;
  readonly fallbackModels: readonly string[];
  readonly utilityModel?: string;
  /** Appends guidance and offers SendMessage; one switch for both (SPEC M10). */
  readonly sendMessageGuidance: boolean;
  readonly publicUrl: string;
  /** True when a visitor on the same machine can open web links though there is no public address. */
  readonly localLinks: boolean;
}

/** Who is served (SPEC I6). */
export interface AccessSettings {
  readonly directMessages: "open" | "pairing" | "allowlist";
  readonly guests: "deny" | "allow";
  readonly external: "deny" | "allow";
  /** Bots that are not ours (SPEC I7): never heard, heard when they name one of ours, or heard like people; always within a budget. */
  readonly bots: "none" | "mentions" | "all";
  /** Person ids or native ids; when not empty, only these people are served in direct messages under `allowlist`. */
  readonly people: readonly string[];
  readonly admins: readonly string[];
  /** "any" or connector names a secret-request may ask for (SPEC C2). */
  readonly secretConnectors: "any" | readonly string[];
}

/** Channels with two or more bots (SPEC G). */
export interface GroupsSettings {
  /** Whether a message that names nobody is for everybody; people may change it for one Group. */
  readonly activation: "all" | "mention";
  /** Channels that are Groups where a platform shows every channel to every bot: native ids, or `all`. */
  readonly channels: "all" | readonly string[];
  readonly maxMembers: number;
  readonly maxRounds: number;
  readonly maxBubbles: number;
  readonly maxPerTurn: number;
  /** A member that shows nothing for this long is passed by, ms (SPEC G8). */
  readonly patienceMs: number;
}

/** Limits and paces; defaults are in src/config.ts. */
export interface LimitSettings {
  /** A person who waited this long behind another session gets an own lane (SPEC T2). */
  readonly waitMs: number;
  readonly debounceMs: number;
  readonly maxSteps: number;
  readonly turnMs: number;
  /** Bot and background mail older than this goes first once. */
  readonly ageingMs: number;
  readonly mailPerSession: number;
  /** Session lease; renewed at a third of it (SPEC T3). */
  readonly leaseMs: number;
  /** How long a SendMessage call waits for its receipt before it says "accepted" (SPEC M7). */
  readonly receiptWaitMs: number;
  readonly bubblesPerTurn: number;
  readonly toolMs: number;
  readonly modelMs: number;
  readonly secretTtlMs: number;
}
