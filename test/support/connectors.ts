/** Connectors for tests: real third-party servers, one that misbehaves, and looks at the state of what the product connected to. */
import { fileURLToPath } from "node:url";
import { pause } from "../emulators/loopback.ts";
import type { World } from "./world.ts";

/** Settings of a published server, run from node_modules. */
export function published(name: "everything" | "filesystem" | "memory", ...args: readonly string[]) {
  const path = `../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
  return { command: process.execPath, args: [fileURLToPath(new URL(path, import.meta.url)), ...args] };
}

/** Settings of the server that misbehaves in this manner. */
export function hostile(manner: string, ...args: readonly string[]) {
  const path = fileURLToPath(new URL("../emulators/mcp/hostile-server.mjs", import.meta.url));
  return { command: process.execPath, args: [path, manner, ...args] };
}

/** One connector as /readyz tells it. */
export interface ConnectorState {
  readonly connector: string;
  readonly state: string;
  readonly tools: number;
  readonly remedy?: string;
}

/** All connectors as /readyz tells them now. */
export async function connectorStates(world: Pick<World, "url">): Promise<readonly ConnectorState[]> {
  const answer = await fetch(`${world.url()}/readyz`);
  return ((await answer.json()) as { connectors: ConnectorState[] }).connectors;
}

/** Resolves when the connector is in one of these states. */
export async function untilConnector(
  world: World,
  name: string,
  ...states: readonly string[]
): Promise<ConnectorState> {
  let seen: readonly ConnectorState[] = [];
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(40)) {
    seen = await connectorStates(world);
    const found = seen.find((one) => one.connector === name && states.includes(one.state));
    if (found) return found;
  }
  throw new Error(`${name} did not become ${states.join(" or ")}: ${JSON.stringify(seen)}`);
}
