/**
 * The shape of parley.yaml: every key, its form, its default. Plain zod; each leaf says in words what it expects, so that a wrong value is
 * explained and never echoed (it may be a secret). Invariant: the keys here are the documented ones and no others; parley.example.yaml is tested
 * to cover them. Reading files and environment is left to config-file.ts, rules that span several keys to config-checks.ts.
 */
import { z } from "zod";

/** Names that need no entry under `providers`, and the variables their key is read from, first found wins. */
export const BUILT_IN_PROVIDERS = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  xai: ["XAI_API_KEY"],
} as const satisfies Record<string, readonly string[]>;

/** A provider whose wire format is built in. */
export type BuiltInProvider = keyof typeof BUILT_IN_PROVIDERS;

type IssueLike = { readonly input?: unknown };

/** The one sentence form of every complaint: what is expected, and whether anything was there. */
const expected = (what: string) => (issue: IssueLike) =>
  issue.input === undefined ? `is missing; expected ${what}` : `expected ${what}`;

const text = (what: string) => z.string({ error: expected(what) });
const filled = (what: string) =>
  text(what)
    .trim()
    .min(1, { error: expected(what) });
const choice = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, { error: expected(`one of: ${values.join(", ")}`) });
const list = <T extends z.ZodType>(of: T, what: string) => z.array(of, { error: expected(`a list of ${what}`) });
const block = <T extends z.ZodRawShape>(shape: T, what = "a block of keys") =>
  z.strictObject(shape, { error: (issue) => (issue.code === "unrecognized_keys" ? undefined : expected(what)(issue)) });

/** A whole number; digits from an environment variable count as one. */
function whole(min: number, max: number) {
  const error = expected(`a whole number from ${min} to ${max}`);
  const number = z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
  return z.preprocess(
    (value) => (typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value),
    number,
  );
}

/** true or false, also as the words an environment variable holds. */
const yesNo = z.preprocess(
  (value) => (value === "true" || value === "false" ? value === "true" : value),
  z.boolean({ error: expected("true or false") }),
);

/** How a platform shows things (SPEC M14); changes nothing else. */
const looks = {
  cards: yesNo.default(true),
  status: choice("native", "off").default("native"),
  receipts: yesNo.default(false),
};

/** Ids are text; YAML reads an unquoted one as a number. */
const id = (what: string) => z.preprocess((value) => (typeof value === "number" ? String(value) : value), filled(what));

const model = text("a model as provider/name, for example anthropic/claude-sonnet-5, or demo").regex(
  /^(demo|[a-z0-9][a-z0-9_-]*\/\S+)$/i,
  { error: expected("a model as provider/name, for example anthropic/claude-sonnet-5, or demo") },
);

/** True for addresses that only this machine can reach. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function isSafeUrl(value: string): boolean {
  if (!isHttpUrl(value)) return false;
  const url = new URL(value);
  return url.protocol === "https:" || isLoopbackHost(url.hostname);
}

const safeUrl = (what: string) =>
  filled(what)
    .refine(isHttpUrl, { error: `expected ${what}`, abort: true })
    .refine(isSafeUrl, { error: "expected https:// (plain http:// only on this machine)" });

const scheme = (what: string, ...schemes: string[]) =>
  text(what).refine((value) => value === "" || schemes.some((name) => value.startsWith(`${name}://`)), {
    error: expected(what),
  });

/** Who understands a provider's requests: the built-in formats at another address (a gateway), or OpenAI's chat format. */
const provider = block({
  kind: choice("openai-compatible", "anthropic", "openai", "google", "xai"),
  baseURL: filled("the address of the API, for example http://127.0.0.1:11434/v1")
    .refine(isHttpUrl, { error: "expected an address that begins with http:// or https://" })
    .optional(),
  apiKey: text("the key as text").optional(),
  contextWindow: whole(1_000, 100_000_000).optional(),
}).refine((entry) => entry.kind !== "openai-compatible" || entry.baseURL !== undefined, {
  error: "is missing; expected the address of the API, for example http://127.0.0.1:11434/v1",
  path: ["baseURL"],
});

const PERSONA_KEYS: ReadonlySet<string> = new Set(["personaOf", "icon"]);

const slackBot = block({
  botToken: filled("the bot token (xoxb-…)")
    .refine((value) => !value.startsWith("xapp-"), {
      error: "holds an app-level token (xapp-…); expected the bot token (xoxb-…)",
    })
    .optional(),
  appToken: filled("the app-level token (xapp-…)")
    .refine((value) => !value.startsWith("xoxb-"), {
      error: "holds a bot token (xoxb-…); expected the app-level token (xapp-…)",
    })
    .optional(),
  signingSecret: filled("the app's signing secret").optional(),
  clientId: id("the app's client id").optional(),
  clientSecret: filled("the app's client secret").optional(),
  personaOf: id("the id of the bot whose Slack app this bot speaks through").optional(),
  icon: filled("a picture: an https:// address or an emoji as :name:")
    .regex(/^(https:\/\/\S+|:[a-z0-9_+'-]+:)$/, {
      error: "expected a picture: an https:// address or an emoji as :name:",
    })
    .optional(),
})
  .refine((slack) => slack.personaOf === undefined || Object.keys(slack).every((key) => PERSONA_KEYS.has(key)), {
    error: "has personaOf and keys of an own app. A persona has no tokens: it speaks through the other bot's app",
  })
  .refine((slack) => slack.icon === undefined || slack.personaOf !== undefined, {
    error: "is for personas only. A bot with its own Slack app gets its picture there",
    path: ["icon"],
  })
  .refine(
    (slack) => slack.personaOf !== undefined || slack.appToken !== undefined || slack.signingSecret !== undefined,
    { error: "needs appToken (Socket Mode) or signingSecret (HTTP)" },
  )
  .refine((slack) => (slack.clientId === undefined) === (slack.clientSecret === undefined), {
    error: "needs both clientId and clientSecret for Add to Slack, or neither",
  })
  .refine((slack) => slack.personaOf !== undefined || slack.botToken !== undefined || slack.clientId !== undefined, {
    error: "is missing; expected the bot token (xoxb-…)",
    path: ["botToken"],
  });

const bot = block({
  id: filled("an id of a-z, 0-9 and -").regex(/^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/, {
    error: "expected an id of a-z, 0-9 and -, up to 64 characters, not beginning or ending with -",
  }),
  name: filled("the name people see").max(35, { error: "expected at most 35 characters" }),
  role: filled("duties in a sentence or two")
    .max(10_000, { error: "expected at most 10,000 characters" })
    .default("Helpful teammate."),
  model: model.optional(),
  lanes: whole(1, 32).default(4),
  slack: slackBot.optional(),
  discord: block({ token: filled("the bot's token") }).optional(),
});

const pairs = (what: string) => z.record(z.string(), text("text"), { error: expected(what) });

/** The keys of the usual mcpServers files, and ours. */
const mcpServer = block({
  type: choice("stdio", "http", "streamable-http", "sse").optional(),
  command: filled("a command").optional(),
  args: list(text("text"), "arguments").optional(),
  env: pairs("NAME: value pairs").optional(),
  url: filled("an http(s) address").refine(isHttpUrl, { error: "expected an http(s) address" }).optional(),
  headers: pairs("Name: value pairs").optional(),
  accounts: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9-]*$/i, { error: "expected a name of letters, digits and -" }),
      pairs("NAME: value pairs"),
      { error: expected("name: { NAME: value } entries") },
    )
    .optional(),
  oauth: z
    .partialRecord(z.enum(["clientId", "clientSecret"]), text("text"), {
      error: expected("clientId, and clientSecret where there is one"),
    })
    .optional(),
  required: z.boolean({ error: expected("true or false") }).default(false),
  timeoutSeconds: whole(1, 3_600).default(60),
  approve: choice("destructive", "always", "never").default("destructive"),
  sampling: whole(0, 10_000).default(0),
  roots: list(filled("a folder"), "folders").default([]),
}).refine((server) => (server.command === undefined) !== (server.url === undefined), {
  error: "needs either command (a local program) or url (a remote server), and not both",
});

const groups = block({
  activation: choice("all", "mention").default("all"),
  channels: z
    .union([z.literal("all"), z.array(id("a channel id"))], { error: expected("a list of channel ids, or all") })
    .default([]),
  maxMembers: whole(2, 6).default(6),
  maxRounds: whole(1, 20).default(3),
  maxBubbles: whole(1, 100).default(10),
  maxPerTurn: whole(1, 25).default(2),
});

const access = block({
  directMessages: choice("open", "pairing", "allowlist").default("open"),
  guests: choice("deny", "allow").default("deny"),
  external: choice("deny", "allow").default("deny"),
  bots: choice("none", "mentions", "all").default("none"),
  people: list(id("a person's id"), "people's ids").default([]),
  admins: list(id("a person's id"), "people's ids").default([]),
  secretConnectors: z
    .union([z.literal("any"), z.array(filled("a connector's name"))], {
      error: expected("any, or a list of connector names"),
    })
    .default("any"),
});

const web = block({
  host: filled("a host name or address to listen on").optional(),
  port: whole(0, 65_535).default(3000),
  publicUrl: text("the https:// address people reach this server at, or nothing")
    .refine((value) => value === "" || isSafeUrl(value), {
      error: "expected an https:// address (plain http:// only on this machine), or nothing",
    })
    .transform((value) => value.replace(/\/+$/, ""))
    .default(""),
  password: text("a password").optional(),
});

const storage = block({
  dir: filled("a folder").default("./data"),
  databaseUrl: scheme("a postgresql:// address, or nothing", "postgres", "postgresql").optional(),
  redisUrl: scheme("a redis:// address, or nothing", "redis", "rediss").optional(),
  keyFile: filled("a file").optional(),
});

/** The whole settings file. Every key has a default; what is left `optional` gets its value from other keys or the environment. */
export const settingsSchema = block(
  {
    model: model.optional(),
    fallbackModels: list(model, "models").default([]),
    utilityModel: model.optional(),
    providers: z
      .record(
        z.string().regex(/^[a-z0-9][a-z0-9_-]*$/i, { error: "expected a name of letters, digits, - and _" }),
        provider,
        {
          error: expected("name: { kind, baseURL, … } entries"),
        },
      )
      .default({}),
    bots: list(bot, "bots").default([]),
    slack: block({
      apiUrl: safeUrl("the address of Slack's API")
        .transform((value) => `${value.replace(/\/+$/, "")}/`)
        .default("https://slack.com/api/"),
      replies: choice("thread", "channel").default("thread"),
      ...looks,
    }).prefault({}),
    discord: block({
      apiUrl: safeUrl("the address of Discord's API")
        .transform((value) => value.replace(/\/+$/, ""))
        .default("https://discord.com/api"),
      cdnHosts: list(filled("a host name"), "host names").default(["cdn.discordapp.com", "media.discordapp.net"]),
      replies: choice("thread", "channel").default("channel"),
      ...looks,
    }).prefault({}),
    groups: groups.prefault({}),
    threads: choice("sticky", "strict", "always").default("sticky"),
    access: access.prefault({}),
    limits: block({
      waitSeconds: whole(0, 3_600).default(3),
      debounceMs: whole(0, 60_000).default(0),
      maxSteps: whole(1, 10_000).default(200),
      turnMinutes: whole(1, 1_440).default(30),
    }).prefault({}),
    net: block({ allowPrivateHosts: list(filled("a host name or address"), "host names").default([]) }).prefault({}),
    web: web.prefault({}),
    storage: storage.prefault({}),
    mcp: block({
      servers: z
        .record(
          z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/i, {
            error: "expected a name of letters, digits, - and _, up to 40 characters",
          }),
          mcpServer,
          { error: expected("name: { command … } or { url … } entries") },
        )
        .default({}),
    }).prefault({}),
    plugins: list(filled("a folder or git address"), "folders or git addresses").default([]),
  },
  "a list of settings, one `key: value` a line",
);

/** The checked contents of the file, before the environment and the rules between keys are applied. */
export type FileSettings = z.output<typeof settingsSchema>;

/** One entry of `bots`. */
export type BotEntry = FileSettings["bots"][number];
