/**
 * Which servers there are: the usual `mcpServers` shape turned into one definition per connection, an account each. Pure. Definitions of plugins are
 * off until an administrator switches them on, and may neither reach private hosts nor read other connectors' secrets.
 */

import { z } from "zod";

/** One server as settings and mcpServers files write it, with our own keys and their defaults. */
export interface ServerSettings {
  readonly type?: "stdio" | "http" | "streamable-http" | "sse" | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Folder the program runs in; only plugins name one. */
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Env of a program or headers of a remote server, besides those all accounts have. */
  readonly accounts?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  /** An OAuth client registered by hand. */
  readonly oauth?: { readonly clientId?: string | undefined; readonly clientSecret?: string | undefined } | undefined;
  readonly required?: boolean;
  readonly timeoutSeconds?: number;
  readonly approve?: "destructive" | "always" | "never";
  readonly sampling?: number;
  readonly roots?: readonly string[];
}

/** How a server is reached. Values of env and headers may hold `${secret:NAME}`. */
export type ServerAddress =
  | {
      readonly kind: "program";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly kind: "remote";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** True: only the older transport over server-sent events. */
      readonly onlySse: boolean;
    };

/** One connection to be made. */
export interface ConnectorDefinition {
  /** `files`, or `github.work` for one of several accounts. */
  readonly id: string;
  readonly server: string;
  /** settings, or the name of the plugin it came with. */
  readonly source: string;
  readonly address: ServerAddress;
  /** The OAuth client that was registered there by hand. */
  readonly registered?: { readonly clientId: string; readonly clientSecret?: string };
  readonly isEnabled: boolean;
  readonly isRequired: boolean;
  readonly timeoutMs: number;
  readonly approve: "destructive" | "always" | "never";
  readonly samplingPerHour: number;
  readonly roots: readonly string[];
}

/** The source of connections that the operator wrote into the settings file. */
export const SETTINGS = "settings";

/** One definition per server and account, in the order of ids. */
export function toDefinitions(
  servers: Readonly<Record<string, ServerSettings>>,
  source: string = SETTINGS,
): readonly ConnectorDefinition[] {
  const all = Object.entries(servers).flatMap(([server, settings]) => {
    const accounts = Object.entries(settings.accounts ?? {});
    if (accounts.length === 0) return [toDefinition(server, server, source, settings, {})];
    return accounts.map(([name, account]) => toDefinition(`${server}.${name}`, server, source, settings, account));
  });
  return all.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function toDefinition(
  id: string,
  server: string,
  source: string,
  settings: ServerSettings,
  account: Readonly<Record<string, string>>,
): ConnectorDefinition {
  const { clientId, clientSecret } = settings.oauth ?? {};
  const registered = clientId ? { clientId, ...(clientSecret ? { clientSecret } : {}) } : undefined;
  return {
    id,
    server,
    source,
    ...(registered ? { registered } : {}),
    address: addressOf(settings, account),
    isEnabled: source === SETTINGS,
    isRequired: source === SETTINGS && settings.required === true,
    timeoutMs: (settings.timeoutSeconds ?? 60) * 1000,
    approve: settings.approve ?? "destructive",
    samplingPerHour: source === SETTINGS ? (settings.sampling ?? 0) : 0,
    roots: settings.roots ?? [],
  };
}

function addressOf(settings: ServerSettings, account: Readonly<Record<string, string>>): ServerAddress {
  if (settings.url !== undefined) {
    const headers = { ...settings.headers, ...account };
    return { kind: "remote", url: settings.url, headers, onlySse: settings.type === "sse" };
  }
  const env = { ...settings.env, ...account };
  const { command = "", args = [], cwd } = settings;
  return { kind: "program", command, args, env, ...(cwd ? { cwd } : {}) };
}

const texts = z.record(z.string(), z.string());
const fileServer = z.object({
  type: z.enum(["stdio", "http", "streamable-http", "sse"]).optional().catch(undefined),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: texts.optional(),
  cwd: z.string().min(1).optional(),
  url: z.url({ protocol: /^https?$/ }).optional(),
  headers: texts.optional(),
});

/**
 * Reads the contents of an mcpServers file of a plugin (`{ mcpServers: { … } }` or the map itself). What cannot be used is named in `problems`, in
 * words for the operator; the rest is used.
 */
export function readServersFile(
  contents: unknown,
  plugin: string,
): { readonly definitions: readonly ConnectorDefinition[]; readonly problems: readonly string[] } {
  const map = z.record(z.string(), z.unknown()).safeParse(innerMap(contents));
  if (!map.success) return { definitions: [], problems: ["The list of MCP servers is not a map of names to servers."] };
  const servers: Record<string, ServerSettings> = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(map.data)) {
    const read = fileServer.safeParse(value);
    const isNamed = /^[a-z0-9][a-z0-9_-]{0,39}$/i.test(name);
    if (read.success && isNamed && (read.data.command === undefined) !== (read.data.url === undefined)) {
      const { env, headers, ...rest } = read.data;
      servers[name] = {
        ...rest,
        ...(env ? { env: toSecrets(env) } : {}),
        ...(headers ? { headers: toSecrets(headers) } : {}),
      };
    } else {
      problems.push(
        `The MCP server ${JSON.stringify(name.slice(0, 60))} needs a plain name and either command or url.`,
      );
    }
  }
  return { definitions: toDefinitions(servers, plugin), problems };
}

/**
 * Packages write `${NAME}` for a value of the user's environment, and `${NAME:-usual}` where there is a usual one. This service's environment is not
 * theirs to read, so the first is a secret of the connector that an administrator gives, and of the second the usual value is taken.
 */
function toSecrets(values: Readonly<Record<string, string>>): Record<string, string> {
  const filled = (text: string) =>
    text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_whole, name: string, usual?: string) => usual ?? `\${secret:${name}}`);
  return Object.fromEntries(Object.entries(values).map(([key, text]) => [key, filled(text)]));
}

function innerMap(contents: unknown): unknown {
  return typeof contents === "object" && contents !== null && "mcpServers" in contents ? contents.mcpServers : contents;
}
