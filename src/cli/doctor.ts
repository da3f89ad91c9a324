/**
 * `parley doctor`: looks at everything that must work before a bot can answer, and says what to do about what does not. Changes nothing,
 * unless it is asked to switch on at a platform what it can.
 * Invariant: one fault never hides another; every question to the outside has a time limit. What a platform can be asked is its adapter's knowledge.
 */
import { existsSync } from "node:fs";
import { type Config, loadConfig } from "../config.ts";
import { ConfigError, claimDirectory, DatabaseInUseError, loadVaultKey, probeDatabase } from "../engine/index.ts";
import { type CommandLine, type Finding, type PlatformSetup, settingsArguments } from "./command-line.ts";
import { checkRuntimeBots } from "./doctor-bots.ts";
import { checkConnectors } from "./doctor-connectors.ts";
import { checkProviders } from "./doctor-providers.ts";
import { checkSkills } from "./doctor-skills.ts";

/** Platform name → loader of its setup, for the platforms this version knows. */
export type Setups = Readonly<Record<string, () => Promise<PlatformSetup>>>;

/** Prints one line per thing looked at. Returns 1 when something is at fault. */
export async function doctor(line: CommandLine, setups: Setups, fix = false): Promise<number> {
  const loaded = load(line);
  if (loaded.config === undefined) return report(line, loaded.findings);
  const { config } = loaded;
  const parts = await Promise.all([
    checkDatabase(config),
    checkKey(config),
    checkProviders(config, line.fetch),
    checkPlatforms(config, setups, fix),
    checkAddress(config, line.fetch),
    checkRuntimeBots(config),
    checkSkills(config),
    checkConnectors(config, line.fetch),
  ]);
  return report(line, [...loaded.findings, ...parts.flat()]);
}

function load(line: CommandLine): { config: Config | undefined; findings: readonly Finding[] } {
  try {
    const config = loadConfig(settingsArguments(line));
    const source =
      config.file ?? (config.origin === "environment" ? "no file; one bot from the environment" : "no file; demo bots");
    const bots = config.bots.map((bot) => bot.id).join(", ");
    return {
      config,
      findings: [ok(`settings: ${source} (bots: ${bots})`), ...config.warnings.map((text) => warning(text))],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: undefined, findings: [fault(`settings: ${error.message}`)] };
  }
}

async function checkDatabase({ storage }: Config): Promise<Finding[]> {
  if (storage.databaseUrl === "") return checkEmbedded(storage.databaseDir);
  const result = await probeDatabase(storage.databaseUrl);
  if (result.ok) return [ok(`database: PostgreSQL ${result.version} answers`)];
  return [fault(`database: ${result.text}`, "Check DATABASE_URL (or storage.databaseUrl) and that the server runs.")];
}

async function checkEmbedded(directory: string): Promise<Finding[]> {
  if (!existsSync(directory)) return [ok(`database: embedded, will be made in ${directory}`)];
  try {
    const claim = await claimDirectory(directory);
    await claim.release();
    return [ok(`database: embedded in ${directory}, not running`)];
  } catch (error) {
    if (error instanceof DatabaseInUseError)
      return [ok(`database: embedded in ${directory}, in use by process ${error.pid ?? "unknown"}`)];
    return [fault(`database: ${error instanceof Error ? error.message : String(error)}`)];
  }
}

async function checkKey({ storage }: Config): Promise<Finding[]> {
  if (storage.vaultKey === "" && !existsSync(storage.keyFile))
    return [ok(`vault key: will be made in ${storage.keyFile}`)];
  try {
    // Only reads: a key is made when there is neither a file nor a variable, which was ruled out above.
    const { current } = await loadVaultKey({ keyFile: storage.keyFile, envKey: storage.vaultKey });
    return [ok(`vault key: ${storage.vaultKey === "" ? storage.keyFile : "PARLEY_VAULT_KEY"} (id ${current.id})`)];
  } catch (error) {
    return [fault(`vault key: ${error instanceof Error ? error.message : String(error)}`)];
  }
}

async function checkPlatforms(config: Config, setups: Setups, fix: boolean): Promise<Finding[]> {
  const asked = config.bots.flatMap((bot) =>
    (["slack", "discord"] as const).flatMap((platform) =>
      bot[platform] === undefined ? [] : [{ bot, platform, settings: bot[platform] }],
    ),
  );
  const found = await Promise.all(
    asked.map(({ bot, platform, settings }) => checkBot(config, setups, { botId: bot.id, platform, settings, fix })),
  );
  return found.flat();
}

async function checkBot(
  config: Config,
  setups: Setups,
  bot: {
    readonly botId: string;
    readonly platform: "slack" | "discord";
    readonly settings: unknown;
    readonly fix: boolean;
  },
): Promise<readonly Finding[]> {
  const { botId, platform, ...rest } = bot;
  const check = (await setups[platform]?.())?.check;
  if (check === undefined)
    return [warning(`${platform}: the tokens of bot ${botId} cannot be checked by this version`)];
  const { apiUrl, receipts } = config[platform];
  const found = await check({ botId, ...rest, apiUrl, receipts });
  return found.map((finding) => ({ ...finding, what: `bot ${botId}: ${finding.what}` }));
}

async function checkAddress({ web }: Config, ask: typeof fetch): Promise<Finding[]> {
  if (web.publicUrl === "") {
    const text =
      "secret links: without web.publicUrl people on other machines get only the platform's own form, which cannot hide what they type";
    return [warning(text, "Set web.publicUrl to the https:// address of this server.")];
  }
  try {
    const answer = await ask(`${web.publicUrl}/healthz`, { signal: AbortSignal.timeout(5_000), redirect: "error" });
    if (answer.ok) return [ok(`address: ${web.publicUrl} answers`)];
    return [
      warning(
        `address: ${web.publicUrl}/healthz answers ${answer.status}`,
        "Check that the proxy passes requests on to this server.",
      ),
    ];
  } catch {
    // Refused, unknown and slow have one remedy.
    return [
      warning(
        `address: ${web.publicUrl} does not answer`,
        "Expected while Parley is stopped; otherwise check name, certificate and proxy.",
      ),
    ];
  }
}

function report(line: CommandLine, findings: readonly Finding[]): number {
  for (const { state, what, fix } of findings) {
    line.print(`${state.padEnd(8)}${what.replaceAll("\n", "\n        ")}`);
    if (fix !== undefined) line.print(`        → ${fix}`);
  }
  const faults = findings.filter(({ state }) => state === "fault").length;
  const warnings = findings.filter(({ state }) => state === "warning").length;
  const well =
    warnings === 0
      ? "All is well."
      : `Nothing is broken; ${warnings} ${warnings === 1 ? "line" : "lines"} above to look at.`;
  line.print(faults === 0 ? well : `${faults} ${faults === 1 ? "thing needs" : "things need"} mending.`);
  return faults === 0 ? 0 : 1;
}

const ok = (what: string): Finding => ({ state: "ok", what });
const warning = (what: string, fix?: string): Finding => ({ state: "warning", what, fix });
const fault = (what: string, fix?: string): Finding => ({ state: "fault", what, fix });
