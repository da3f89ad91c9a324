/**
 * Puts the connectors together: definitions, connections, sign-ins and the tools that every bot has for them. The SDK is loaded when the first server
 * is opened.
 */

import {
  type AdapterRoute,
  type Clock,
  type ConnectorSecrets,
  createGuardedHttp,
  type GuardedHttp,
  type KeyValueStore,
  type Log,
  type Model,
  type Receive,
  type Tool,
} from "../../engine/index.ts";
import { createCallTool } from "./call-tool.ts";
import type { FilledValues } from "./connection-parts.ts";
import { Connections } from "./connections.ts";
import { createConnectorRoutes } from "./connector-routes.ts";
import { type ConnectorDefinition, SETTINGS, type ServerSettings, toDefinitions } from "./definitions.ts";
import { elicit } from "./elicitation.ts";
import { createManageConnector } from "./manage-connector.ts";
import type { OpenClient } from "./opened-client.ts";
import { createReadOutput } from "./read-output.ts";
import { createSampling } from "./sampling.ts";
import { createSearchTools } from "./search-tools.ts";
import { SignIns } from "./sign-ins.ts";

/** What connectors are given by main. */
export interface ConnectorParts {
  readonly servers: Readonly<Record<string, ServerSettings>>;
  readonly kv: KeyValueStore;
  readonly secrets: ConnectorSecrets;
  readonly allowPrivateHosts: readonly string[];
  /** Address browsers come back to, read when it is needed. */
  readonly baseUrl: () => string;
  readonly receive: Receive;
  /** New values must be masked. */
  readonly onSecrets: () => void;
  /** The model that answers servers' requests for words. */
  readonly samplingModel: () => Model;
  readonly random?: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Connectors with the tools and routes that belong to them. */
export interface ConnectorSet {
  readonly connections: Connections;
  readonly tools: readonly Tool[];
  readonly routes: readonly AdapterRoute[];
}

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Connectors that do nothing until they are started. Where there is none the tools are not offered, and requests to models stay as they were. */
export function createConnectors(parts: ConnectorParts): ConnectorSet {
  const { kv, clock, log } = parts;
  const definitions = toDefinitions(parts.servers);
  const httpFor = createHttpFor(parts.allowPrivateHosts);
  const open: OpenClient = async (request) => (await import("./client.ts")).openClient(request);
  const signIns = new SignIns({ ...parts, httpFor, open });
  const connections = new Connections(
    definitions,
    {
      ...{ clock, log, kv, open, httpFor, elicit },
      random: parts.random ?? Math.random,
      valuesFor: (definition) => fillIn(definition, parts.secrets),
      sample: createSampling({ model: parts.samplingModel, kv, clock }),
    },
    signIns,
  );
  const tools: readonly Tool[] = [
    createSearchTools(connections),
    createCallTool(connections),
    createReadOutput(connections),
    createManageConnector(connections, signIns),
  ].map((tool) => ({ ...tool, needsConnectors: true }));
  return {
    connections,
    tools,
    routes: createConnectorRoutes(connections, signIns),
  };
}

/** Hosts that the operator wrote into the settings may be private; those of plugins may not, beyond what is listed for everybody. */
function createHttpFor(allowPrivateHosts: readonly string[]): (definition: ConnectorDefinition) => GuardedHttp {
  const made = new Map<string, GuardedHttp>();
  return ({ id, source, address }) => {
    const known = made.get(id);
    if (known) return known;
    const own = address.kind === "remote" && source === SETTINGS ? [new URL(address.url).hostname] : [];
    const http = createGuardedHttp({
      allowPrivateHosts: [...allowPrivateHosts, ...own],
      maxMessageBytes: MAX_MESSAGE_BYTES,
    });
    made.set(id, http);
    return http;
  };
}

const SECRET = /\$\{secret:([^}\s]+)\}/g;

/** Env or headers with `${secret:NAME}` from the vault; `other/NAME` is another connector's, for the settings file only. */
async function fillIn(
  { address, server, source }: ConnectorDefinition,
  secrets: ConnectorSecrets,
): Promise<FilledValues> {
  const given = address.kind === "program" ? address.env : address.headers;
  const missing = new Set<string>();
  const values: Record<string, string> = {};
  for (const [key, text] of Object.entries(given)) {
    const found = new Map<string, string>();
    for (const [whole, name = ""] of text.matchAll(SECRET)) {
      const [connector, field] = source === SETTINGS && name.includes("/") ? splitAt(name) : [server, name];
      const value = await secrets.read(connector, field);
      if (value) found.set(whole, value.reveal());
      else missing.add(name);
    }
    values[key] = text.replace(SECRET, (whole) => found.get(whole) ?? "");
  }
  return missing.size > 0 ? { ok: false, missing: [...missing] } : { ok: true, values };
}

function splitAt(name: string): readonly [string, string] {
  const at = name.indexOf("/");
  return [name.slice(0, at), name.slice(at + 1)];
}
