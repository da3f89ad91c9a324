/**
 * A Connector is an MCP server as bots see it: tools of another system, described by that system and therefore untrusted (SPEC P2, X2, G11). The
 * engine freezes what a session is offered for the length of a cycle; connecting, calling and signing in are left to src/tools/mcp.
 */

import type { Tool } from "./tool.ts";

/** Where a turn runs, as far as connectors care. */
export interface ConnectorPlace {
  /** The person of a direct conversation: only there their own connectors work (SPEC G11). Absent in channels and between bots. */
  readonly personId?: string;
}

/** A tool as a model is shown it; plain data, kept with the session for the rest of its cycle. */
export interface OfferedTool {
  /** Unique, `[A-Za-z0-9_-]`, at most 64 characters. */
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type object that every provider takes. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly readOnly: boolean;
}

/** What a new cycle begins with. `capabilities` is the end of the system prompt; both stay as they are until the next cycle. */
export interface ConnectorOffer {
  readonly tools: readonly OfferedTool[];
  readonly capabilities: string;
}

/** A connector that does not work now. `text` says why, for people and models; it holds nothing the server wrote. */
export interface ConnectorTrouble {
  readonly connector: string;
  readonly text: string;
  /** The same for as long as this trouble lasts, also over restarts: people are told once per incident. */
  readonly incident: string;
  /** Turns stop while it lasts. */
  readonly isRequired: boolean;
}

/** The state of one connector, for the operator. */
export interface ConnectorHealth {
  readonly connector: string;
  readonly state: "off" | "starting" | "connected" | "reconnecting" | "needs-secret" | "needs-sign-in";
  readonly tools: number;
  /** What is wrong and what would help. */
  readonly remedy?: string;
}

/**
 * The connectors of this process. Contract: nothing here waits for a server, except `awaitRequired`, which waits at most 20 s; nothing throws for a
 * server's faults.
 */
export interface Connectors {
  /** What a cycle that begins now is offered, in a fixed order. */
  offer(place: ConnectorPlace): Promise<ConnectorOffer>;
  /** The callable form of an offered tool. It answers "not connected" when its server is gone. */
  toolOf(offered: OfferedTool): Tool;
  troubles(place: ConnectorPlace): Promise<readonly ConnectorTrouble[]>;
  /** Troubles of required connectors, after those that are still starting have had their time. */
  awaitRequired(signal: AbortSignal): Promise<readonly ConnectorTrouble[]>;
  /** A secret was stored: what waits for one looks again. */
  secretsChanged(): void;
  /** Values that must be masked wherever they turn up: tokens people signed in for. */
  secrets(): readonly string[];
  health(): readonly ConnectorHealth[];
}
