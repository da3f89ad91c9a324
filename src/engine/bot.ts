/**
 * Who a bot is: its identity, the platform apps it answers as, and the roles people have towards it.
 * Plain data; the store keeps it, routing and context read it.
 */

/** A platform by its registered adapter name, for example "slack", "web". The engine never branches on it. */
export type PlatformName = string;

/** A long-lived teammate. `version` rises with every change of bot-level state (SPEC T2). */
export interface Bot {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  /** Duties in the owner's words; shown to the model as its identity. */
  readonly role: string;
  /** "provider/model". */
  readonly model: string;
  /** How many of its sessions may run at once when people wait; 1 = strictly serial (SPEC T2). */
  readonly lanes: number;
  readonly version: number;
}

/** One platform app of a bot in one workspace: the identity under which it reads and posts (SPEC I1). */
export interface Installation {
  readonly id: string;
  readonly botId: string;
  readonly platform: PlatformName;
  readonly appId: string;
  readonly workspaceId: string;
  readonly orgId: string;
  /** The id people mention. */
  readonly botUserId: string;
  /** Every further id by which the platform names this bot; used to recognise its own echoes (SPEC I7). */
  readonly otherIds: readonly string[];
  /** How this bot shows itself where several bots post through one platform app (SPEC I1, `personas`). */
  readonly persona?: Persona;
}

/** A name and picture of its own on a shared app. `icon` is an https address or an emoji's short name in colons. */
export interface Persona {
  readonly name: string;
  readonly icon?: string;
}

/** What a bot is called in a conversation, for addressing (SPEC I3). */
export interface BotHandle {
  readonly botId: string;
  readonly name: string;
  readonly platformIds: readonly string[];
  /** Its platform ids belong to another bot's app, so that a mention of them means that bot unless this one is named after it. */
  readonly isPersona?: boolean;
}
