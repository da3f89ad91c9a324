/**
 * The operator's commands, run as the program runs them but in a folder of the test's own, without this machine's environment or network.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the settings' own placeholders are written here.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PlatformSetup } from "../../src/cli/command-line.ts";
import { runCommand } from "../../src/cli/program.ts";
import { loadConfig } from "../../src/config.ts";
import { claimDirectory } from "../../src/engine/index.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "parley-cli-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const SLACK: PlatformSetup = {
  manifest: ({ name, mode, publicUrl }) => ({
    text: JSON.stringify({ name, mode, publicUrl }),
    link: "https://platform.example/new-app",
  }),
  check: async ({ botId }) => [{ state: "ok", what: `slack: bot ${botId} may post` }],
};

async function run(words: string[], options: { env?: Record<string, string>; fetch?: typeof fetch } = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const line = {
    cwd,
    env: options.env ?? {},
    print: (text: string) => out.push(text),
    complain: (text: string) => err.push(text),
    fetch: options.fetch ?? (async () => Response.error()),
  };
  const code = await runCommand(words, line, { slack: async () => SLACK });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

const read = (name: string) => readFileSync(join(cwd, name), "utf8");
const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);

test("--help lists the commands and nothing that does not work yet", async () => {
  const { code, out } = await run(["--help"]);
  expect(code).toBe(0);
  for (const command of ["init", "doctor", "bot", "manifest", "invite", "plugin", "backup"])
    expect(out).toContain(command);
  for (const command of ["export"]) expect(out).not.toMatch(new RegExp(`^ +${command}`, "m"));
});

test("a mistyped command is answered with the nearest one and exit code 1", async () => {
  const { code, err } = await run(["docter"]);
  expect(code).toBe(1);
  expect(err).toContain("doctor");
});

test("init writes settings that load at once, and a private .env", async () => {
  expect((await run(["init"])).code).toBe(0);
  expect(loadConfig({ argv: [], env: {}, cwd }).bots).toMatchObject([
    { id: "ada", model: "demo" },
    { id: "bo", model: "demo" },
    { id: "cy", model: "demo" },
  ]);
  expect(statSync(join(cwd, ".env")).mode & 0o077).toBe(0);
});

test("init leaves what is there", async () => {
  write("parley.yaml", "model: demo\n");
  write(".env", "A=1\n");
  const { out } = await run(["init"]);
  expect(out).toMatch(/Left .*parley\.yaml/);
  expect(read("parley.yaml")).toBe("model: demo\n");
  expect(read(".env")).toBe("A=1\n");
});

test("bot add keeps comments, and names the variables the bot waits for", async () => {
  write("parley.yaml", "# ours\nbots:\n  - id: ada # the first\n    name: Ada\n");
  const { code, out } = await run(["bot", "add", "Dr. Müller", "--role", "Checks numbers.", "--slack", "socket"]);
  expect(code).toBe(0);
  expect(out).toContain("DR_MULLER_SLACK_BOT_TOKEN and DR_MULLER_SLACK_APP_TOKEN");
  expect(read("parley.yaml")).toContain("# ours");
  expect(read("parley.yaml")).toContain("# the first");
  const env = { DR_MULLER_SLACK_BOT_TOKEN: "xoxb-1", DR_MULLER_SLACK_APP_TOKEN: "xapp-1", OPENAI_API_KEY: "k" };
  expect(loadConfig({ argv: [], env, cwd }).bots[1]).toMatchObject({
    id: "dr-muller",
    name: "Dr. Müller",
    role: "Checks numbers.",
    slack: { botToken: "xoxb-1" },
  });
});

test("bot add makes the file when there is none", async () => {
  await run(["bot", "add", "Bo"]);
  expect(loadConfig({ argv: [], env: {}, cwd }).bots).toMatchObject([{ id: "bo", name: "Bo" }]);
});

test("bot add gives a bot that is there the platform it lacks, and leaves the rest as it was", async () => {
  write("parley.yaml", "bots:\n  - id: ada # the first\n    name: Ada\n    role: Counts.\n");
  const { code, out } = await run(["bot", "add", "Ada", "--slack", "socket"]);
  expect(code).toBe(0);
  expect(out).toContain("Connected ada");
  expect(out).toContain("ADA_SLACK_BOT_TOKEN and ADA_SLACK_APP_TOKEN");
  expect(read("parley.yaml")).toContain("# the first");
  const env = { ADA_SLACK_BOT_TOKEN: "xoxb-1", ADA_SLACK_APP_TOKEN: "xapp-1", OPENAI_API_KEY: "k" };
  const [ada, ...others] = loadConfig({ argv: [], env, cwd }).bots;
  expect(ada).toMatchObject({ id: "ada", role: "Counts.", slack: { botToken: "xoxb-1", appToken: "xapp-1" } });
  expect(others).toEqual([]);
  const before = read("parley.yaml");
  expect((await run(["bot", "add", "Ada", "--slack", "socket"])).code).toBe(1);
  expect(read("parley.yaml")).toBe(before);
});

test("a bot that exists already is refused and the file stays as it was", async () => {
  write("parley.yaml", "bots:\n  - { id: ada, name: Ada }\n");
  const { code, err } = await run(["bot", "add", "Ada"]);
  expect(code).toBe(1);
  expect(err).toContain("ada is in ");
  expect(err).toContain("Add --slack or --discord");
  expect(read("parley.yaml")).toBe("bots:\n  - { id: ada, name: Ada }\n");
  expect(readdirSync(cwd)).toEqual(["parley.yaml"]);
});

test("manifest prints the app alone on standard output, though its tokens are not set yet", async () => {
  write(
    "parley.yaml",
    'bots:\n  - id: ada\n    name: Ada\n    slack: { botToken: "${ADA_SLACK_BOT_TOKEN}", appToken: "${ADA_SLACK_APP_TOKEN}" }\n',
  );
  const { code, out, err } = await run(["manifest", "ada"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ name: "Ada", mode: "socket" });
  expect(err).toContain("https://platform.example/new-app");
  expect(err).toContain("ADA_SLACK_APP_TOKEN");
});

test("manifest for HTTP needs a public address", async () => {
  write("parley.yaml", "bots:\n  - { id: ada, name: Ada }\n");
  expect((await run(["manifest", "ada", "--mode", "http"])).err).toContain("web.publicUrl");
  const { out } = await run(["manifest", "ada", "--mode", "http", "--url", "https://bots.example/"]);
  expect(JSON.parse(out)).toMatchObject({ mode: "http", publicUrl: "https://bots.example" });
});

test("manifest of an unknown bot names the known ones", async () => {
  write("parley.yaml", "bots:\n  - { id: ada, name: Ada }\n");
  expect(await run(["manifest", "bo"])).toMatchObject({ code: 1, err: expect.stringContaining("Known here: ada") });
});

test("doctor says that a fresh checkout is well and what is missing for others", async () => {
  const { code, out } = await run(["doctor"]);
  expect(code).toBe(0);
  expect(out).toMatch(/^ok +settings: no file; demo bots/m);
  expect(out).toMatch(/^ok +database: embedded, will be made/m);
  expect(out).toMatch(/^warning +secret links: without web\.publicUrl/m);
  expect(readdirSync(cwd)).toEqual([]);
});

test("doctor tells wrong settings in full and ends with 1", async () => {
  write("parley.yaml", "modle: demo\n");
  const { code, out } = await run(["doctor"]);
  expect(code).toBe(1);
  expect(out).toContain("Did you mean model?");
});

test("doctor finds a key file that others can read, a server that is down and a refused key, all in one run", async () => {
  write(
    "parley.yaml",
    "model: anthropic/claude-sonnet-5\nbots:\n  - { id: ada, name: Ada, slack: { botToken: xoxb-1, appToken: xapp-1 } }\n",
  );
  mkdirSync(join(cwd, "data"));
  writeFileSync(join(cwd, "data/parley.key"), Buffer.alloc(32, 1).toString("base64"), { mode: 0o644 });
  const env = { ANTHROPIC_API_KEY: "sk-wrong-key", DATABASE_URL: "postgresql://parley:hunter2@127.0.0.1:1/parley" };
  const { code, out } = await run(["doctor"], { env, fetch: async () => new Response("{}", { status: 401 }) });
  expect(code).toBe(1);
  expect(out).toContain("chmod 600");
  expect(out).toMatch(/^fault +database: .*ECONNREFUSED/m);
  expect(out).toMatch(/^fault +provider anthropic: does not accept the key/m);
  expect(out).toContain("slack: bot ada may post");
  expect(out).not.toMatch(/sk-wrong-key|hunter2/);
});

test("doctor asks the running Parley about its connectors, or greets remote ones itself", async () => {
  const servers =
    "{ far: { url: https://far.example/mcp, headers: { A: topsecretvalue } }, near: { command: ./not-there } }";
  write("parley.yaml", `mcp: { servers: ${servers} }\n`);
  const alone: typeof fetch = async (url) => {
    if (String(url).includes("far.example")) return new Response("", { status: 401 });
    throw new Error("refused");
  };
  const first = await run(["doctor"], { fetch: alone });
  expect(first.out).toMatch(/^ok +connector far: far\.example answers, and asks for a sign-in/m);
  expect(first.out).toMatch(/^fault +connector near: its program \.\/not-there is not there/m);
  const connectors = [
    { connector: "far", state: "connected", tools: 3 },
    { connector: "near", state: "reconnecting", tools: 0, remedy: "Not connected: its program was not found." },
  ];
  const beside = await run(["doctor"], { fetch: async () => Response.json({ connectors }) });
  expect(beside.out).toMatch(/^ok +connector far: connected, 3 tools/m);
  expect(beside.out).toMatch(/^fault +connector near: reconnecting\n +→ Not connected: its program was not found\./m);
  expect(`${first.out}${beside.out}`).not.toContain("topsecretvalue");
});

test("backup copies everything but the key, and only under its final name", async () => {
  mkdirSync(join(cwd, "data/database"), { recursive: true });
  mkdirSync(join(cwd, "data/files"));
  write("data/database/PG_VERSION", "18");
  write("data/files/a.png", "picture");
  write("data/parley.key", "key");
  const { code, out } = await run(["backup", "--to", "copy"]);
  expect(code).toBe(0);
  expect(read("copy/database/PG_VERSION")).toBe("18");
  expect(read("copy/files/a.png")).toBe("picture");
  expect(readdirSync(join(cwd, "copy")).sort()).toEqual(["database", "files"]);
  expect(readdirSync(join(cwd, "copy/database"))).toEqual(["PG_VERSION"]);
  expect(out).toContain("parley.key");
});

test("backup of a running Parley is refused with its process id", async () => {
  const claim = await claimDirectory(join(cwd, "data/database"));
  const { code, err } = await run(["backup", "--to", "copy"]);
  await claim.release();
  expect(code).toBe(1);
  expect(err).toContain(`process ${process.pid}`);
  expect(readdirSync(cwd)).toEqual(["data"]);
});

test("backup beside a PostgreSQL server copies the files and names pg_dump, without the password", async () => {
  mkdirSync(join(cwd, "data/files"), { recursive: true });
  const { code, out } = await run(["backup", "--to", "copy"], { env: { DATABASE_URL: "postgresql://u:hunter2@h/d" } });
  expect(code).toBe(0);
  expect(out).toContain("pg_dump --format=custom");
  expect(out).not.toContain("hunter2");
});

test("backup never overwrites and never copies into itself", async () => {
  mkdirSync(join(cwd, "data/database"), { recursive: true });
  mkdirSync(join(cwd, "copy"));
  expect((await run(["backup", "--to", "copy"])).err).toContain("exists already");
  expect((await run(["backup", "--to", "data/copy"])).err).toContain("lies inside");
});
