/**
 * Settings as an operator meets them: what is read from where, and what a mistake is answered with.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the settings' own placeholders are what is tested.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Config, loadConfig, secretsOf, toEngineSettings } from "../src/config.ts";
import { ConfigError } from "../src/engine/index.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "parley-config-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
const load = (env: Record<string, string> = {}, argv: string[] = []): Config => loadConfig({ argv, env, cwd });
const loadText = (yaml: string, env: Record<string, string> = {}, argv: string[] = []): Config => {
  write("parley.yaml", yaml);
  return load(env, argv);
};

function problemsOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("The settings were accepted.");
}

const ADA = "bots:\n  - id: ada\n    name: Ada\n";

describe("without a settings file", () => {
  test("nothing configured gives three demo bots on this machine only", () => {
    const config = load();
    expect(config.bots.map(({ id, name, model }) => [id, name, model])).toEqual([
      ["ada", "Ada", "demo"],
      ["bo", "Bo", "demo"],
      ["cy", "Cy", "demo"],
    ]);
    expect(config.web).toEqual({ host: "127.0.0.1", port: 3000, publicUrl: "", password: "" });
    expect(config.storage).toMatchObject({
      dir: join(cwd, "data"),
      keyFile: join(cwd, "data/parley.key"),
      databaseUrl: "",
    });
  });

  test("with a provider's key and no bots, the demo bots think with the model of that key", () => {
    const models = load({ ANTHROPIC_API_KEY: "sk-ant-1" }).bots.map((bot) => bot.model);
    expect(new Set(models)).toEqual(
      new Set([
        load({ SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1", ANTHROPIC_API_KEY: "sk-ant-1" }).bots[0]?.model,
      ]),
    );
    expect(models[0]).toMatch(/^anthropic\//);
  });

  test("Slack tokens and a provider's key make one bot called Parley", () => {
    const config = load({ SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1", ANTHROPIC_API_KEY: "sk-1" });
    expect(config.origin).toBe("environment");
    expect(config.bots).toMatchObject([
      {
        id: "parley",
        name: "Parley",
        model: "anthropic/claude-sonnet-5",
        slack: { botToken: "xoxb-1", appToken: "xapp-1" },
      },
    ]);
  });

  test("tokens without a provider's key name the variables that would do", () => {
    expect(problemsOf(() => load({ SLACK_BOT_TOKEN: "xoxb-1", SLACK_SIGNING_SECRET: "s" }))).toMatch(
      /ANTHROPIC_API_KEY, OPENAI_API_KEY/,
    );
  });

  test("a bot token alone says which second variable is missing", () => {
    const text = problemsOf(() => load({ SLACK_BOT_TOKEN: "xoxb-1", OPENAI_API_KEY: "k" }));
    expect(text).toMatch(/SLACK_APP_TOKEN.*SLACK_SIGNING_SECRET/);
  });

  test("a Discord token and a key make the same bot on Discord", () => {
    expect(load({ DISCORD_BOT_TOKEN: "d", GEMINI_API_KEY: "k" }).bots[0]).toMatchObject({
      id: "parley",
      discord: { token: "d" },
    });
  });
});

describe("the environment", () => {
  test(".env is read, and what is set already wins, even when it is empty", () => {
    write(".env", 'ANTHROPIC_API_KEY="from file" # comment\nDATABASE_URL=postgres://file/db\n');
    const config = load({ DATABASE_URL: "" });
    expect(config.providerKeys.anthropic).toBe("from file");
    expect(config.storage.databaseUrl).toBe("");
  });

  test("${NAME} is filled in, also for numbers, and $${NAME} stays as it is", () => {
    const config = loadText("web: { port: '${PORT}' }\nbots: [{ id: a, name: A, role: 'pays in $${CURRENCY}' }]", {
      PORT: "8080",
    });
    expect(config.web.port).toBe(8080);
    expect(config.bots[0]?.role).toBe("pays in ${CURRENCY}");
  });

  test("an unset variable in a token names bot, key, line and variable", () => {
    const yaml = `${ADA}    slack:\n      botToken: "\${ADA_SLACK_BOT_TOKEN}"\n      appToken: xapp-1\n    model: demo\n`;
    const text = problemsOf(() => loadText(yaml));
    expect(text).toContain(
      "line 5: bots[0].slack.botToken (bot ada): the environment variable ADA_SLACK_BOT_TOKEN is not set",
    );
  });

  test("an unset variable is the only problem told of its block", () => {
    const yaml = `${ADA}    slack:\n      botToken: xoxb-1\n      appToken: "\${ADA_SLACK_APP_TOKEN}"\n    model: demo\n`;
    const text = problemsOf(() => loadText(yaml));
    expect(text).toContain("the environment variable ADA_SLACK_APP_TOKEN is not set");
    expect(text).not.toContain("needs appToken");
  });

  test("an unset variable where nothing is needed counts as nothing", () => {
    const config = loadText('web: { password: "${NOPE}" }\nstorage: { databaseUrl: "${NOPE}", redisUrl: "${NOPE}" }');
    expect(config.web.password).toBe("");
    expect(config.storage.databaseUrl).toBe("");
  });

  test("an unset provider key matters only to a bot that uses the provider", () => {
    const providers =
      'providers: { local: { kind: openai-compatible, baseURL: "http://127.0.0.1:1/v1", apiKey: "${LOCAL_KEY}" } }\n';
    expect(loadText(`${providers}${ADA}    model: demo\n`).bots).toHaveLength(1);
    expect(problemsOf(() => loadText(`${providers}${ADA}    model: local/qwen3\n`))).toMatch(
      /bot ada.*LOCAL_KEY is not set/,
    );
  });
});

describe("mistakes in the file", () => {
  test.each([
    ["modle: demo", "line 1: modle: is not a known setting. Did you mean model?"],
    ["web:\n  prot: 1", "line 2: web.prot: is not a known setting. Did you mean port?"],
    ["lanes: 4", "lanes: is not a known setting. Did you mean bots[].lanes?"],
    ["web:\n  host: localhost\n  port: abc", "line 3: web.port: expected a whole number from 0 to 65535."],
    ["threads: loose", "threads: expected one of: sticky, strict, always."],
    ["bots:\n  - name: Ada", "line 2: bots[0].id: is missing; expected an id"],
    ["bots:\n  - id: Ada\n    name: Ada", "line 2: bots[0].id (bot Ada): expected an id of a-z, 0-9 and -"],
    ["slack: { apiUrl: 'http://example.com/api/' }", "slack.apiUrl: expected https://"],
    ["web: { publicUrl: 'http://example.com' }", "web.publicUrl: expected an https:// address"],
    ["providers: { local: { kind: openai-compatible } }", "providers.local.baseURL: is missing"],
    ["mcp: { servers: { files: { args: [a] } } }", "mcp.servers.files: needs either command"],
    ["bots: 5", "bots: expected a list of bots."],
    ["- a\n- b", "expected a list of settings"],
    ["a: [", "is not valid YAML"],
    ["model: demo\nmodel: demo", "line 2: is not valid YAML: Map keys must be unique"],
    ["web: { port: '${a b}' }", "is not a variable name"],
  ])("%j is answered with place and remedy", (yaml, text) => {
    expect(problemsOf(() => loadText(yaml))).toContain(text);
  });

  test("all problems are told at once, in the order of the file, without any value", () => {
    const text = problemsOf(() =>
      loadText(
        `web: { port: hunter2 }\n${ADA}    slack: { botToken: xapp-hunter2, appToken: xoxb-hunter2 }\n    lanez: 3\n`,
      ),
    );
    expect(text.match(/^- /gm)).toHaveLength(4);
    expect(text.indexOf("web.port")).toBeLessThan(text.indexOf("lanez"));
    expect(text).not.toContain("hunter2");
  });

  test("two bots cannot share an id, a name or a Slack app", () => {
    const slack = "slack: { botToken: xoxb-1, appToken: xapp-1 }, model: demo";
    const text = problemsOf(() =>
      loadText(`bots:\n  - { id: ada, name: Ada, ${slack} }\n  - { id: ada, name: ada, ${slack} }\n`),
    );
    for (const key of ["bots[1].id", "bots[1].name", "bots[1].slack.botToken", "bots[1].slack.appToken"])
      expect(text).toContain(key);
  });

  test("a Slack bot needs one of the two ways to be reached", () => {
    expect(problemsOf(() => loadText(`${ADA}    model: demo\n    slack: { botToken: xoxb-1 }\n`))).toContain(
      "needs appToken (Socket Mode) or signingSecret (HTTP)",
    );
  });

  test("a named settings file that is not there is said, not skipped", () => {
    expect(problemsOf(() => load({}, ["--config", "gone.yaml"]))).toContain("gone.yaml does not exist");
    expect(problemsOf(() => load({ PARLEY_CONFIG: "gone.yaml" }))).toContain("gone.yaml does not exist");
  });
});

describe("models", () => {
  test("a bot without a model takes the general one, else the one its key allows, else the demo", () => {
    expect(loadText(`model: openai/gpt-5.2\n${ADA}`, { OPENAI_API_KEY: "k" }).bots[0]?.model).toBe("openai/gpt-5.2");
    expect(loadText(ADA, { ANTHROPIC_API_KEY: "k" }).bots[0]?.model).toBe("anthropic/claude-sonnet-5");
    expect(loadText(ADA).bots[0]?.model).toBe("demo");
  });

  test("a bot on a platform never falls back to the demo", () => {
    expect(problemsOf(() => loadText(`${ADA}    slack: { botToken: xoxb-1, appToken: xapp-1 }\n`))).toMatch(
      /bots\[0\]\.model \(bot ada\): no model is set/,
    );
  });

  test("a provider that is not known is answered with the nearest one", () => {
    expect(problemsOf(() => loadText(`${ADA}    model: antropic/claude-sonnet-5\n`))).toContain(
      "Did you mean anthropic?",
    );
  });

  test("a built-in provider without its key names the variable; as a fallback it is only useless", () => {
    expect(problemsOf(() => loadText(`${ADA}    model: xai/grok-4\n`))).toContain("needs XAI_API_KEY");
    expect(loadText(`fallbackModels: [xai/grok-4]\n${ADA}    model: demo\n`).fallbackModels).toEqual(["xai/grok-4"]);
  });
});

describe("places", () => {
  test("a host that others can reach needs a password", () => {
    expect(problemsOf(() => loadText("web: { host: 0.0.0.0 }"))).toContain("PARLEY_PASSWORD");
    expect(loadText("web: { host: 0.0.0.0 }", { PARLEY_PASSWORD: "long enough" }).web.password).toBe("long enough");
  });

  test("a container sets the host by PARLEY_HOST, and the file has the last word", () => {
    const env = { PARLEY_HOST: "0.0.0.0", PARLEY_PASSWORD: "long enough" };
    expect(load(env).web.host).toBe("0.0.0.0");
    expect(loadText("web: { host: localhost }", env).web.host).toBe("localhost");
  });

  test("a split role without PostgreSQL and Redis is refused", () => {
    expect(problemsOf(() => load({ DATABASE_URL: "postgres://h/d" }, ["--role", "worker"]))).toContain(
      "needs both DATABASE_URL and REDIS_URL",
    );
    expect(problemsOf(() => load({}, ["--role", "wroker"]))).toContain("expected one of: all, gateway, worker");
  });

  test("with PostgreSQL and Redis every role may be chosen", () => {
    const servers = { DATABASE_URL: "postgres://h/d", REDIS_URL: "redis://h" };
    for (const role of ["all", "gateway", "worker"]) expect(load(servers, ["--role", role])).toMatchObject({ role });
    expect(load(servers).warnings.join()).not.toContain("REDIS_URL");
  });

  test("REDIS_URL alone does no harm and is mentioned", () => {
    expect(load({ REDIS_URL: "redis://h" }).warnings.join()).toContain("REDIS_URL");
  });

  test("a mistyped flag is named", () => {
    expect(problemsOf(() => load({}, ["--confg", "x"]))).toContain("--confg");
  });
});

test("Discord ids written without quotes keep all their digits", () => {
  const config = loadText("groups: { channels: [1234567890123456789] }\naccess: { people: [1234567890123456789] }");
  expect(config.groups.channels).toEqual(["1234567890123456789"]);
  expect(config.access.people).toEqual(["1234567890123456789"]);
});

test("every secret of the settings is known to the mask, a database's password by itself too", () => {
  const yaml = `${ADA}    model: demo\n    slack: { botToken: xoxb-1, signingSecret: sign-1 }\nmcp: { servers: { a: { url: "https://m", headers: { Authorization: bearer-1 } } } }\n`;
  const secrets = secretsOf(
    loadText(yaml, { DATABASE_URL: "postgres://u:p%40ss@h/d", PARLEY_PASSWORD: "pw-1", XAI_API_KEY: "xai-1" }),
  );
  expect(secrets).toEqual(
    expect.arrayContaining(["xoxb-1", "sign-1", "bearer-1", "postgres://u:p%40ss@h/d", "p@ss", "pw-1", "xai-1"]),
  );
});

test("the engine gets milliseconds, modes by platform, and its own defaults", () => {
  const settings = toEngineSettings(
    loadText("limits: { waitSeconds: 5, turnMinutes: 1 }\nslack: { replies: channel }"),
  );
  expect(settings.limits).toMatchObject({
    waitMs: 5_000,
    turnMs: 60_000,
    debounceMs: 0,
    maxSteps: 200,
    mailPerSession: 50,
    leaseMs: 15_000,
  });
  expect(settings.replies).toMatchObject({ slack: "channel", discord: "channel" });
  expect(settings.localLinks).toBe(true);
});

test("looks are set per platform, and a wrong one is named with what is expected", () => {
  const config = loadText("slack: { cards: false, status: off, receipts: true }");
  expect(config.slack).toMatchObject({ cards: false, status: "off", receipts: true });
  expect(config.discord).toMatchObject({ cards: true, status: "native", receipts: false });
  expect(() => loadText("slack: { cards: maybe }\ndiscord: { status: loud, reciepts: true }")).toThrow(
    /slack\.cards[^\n]*true or false[\s\S]*discord\.(?:status[^\n]*native, off|reciepts[^\n]*receipts)/,
  );
});
