/**
 * `parley backup`: copies what Parley keeps into a new folder. Invariant: the embedded database is copied only while this command holds its
 * directory, so no process can be writing; a backup appears under its name only when it is complete. The vault key is left out on purpose:
 * whoever has both can read the secrets.
 */
import { existsSync, promises as fs } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { type Config, loadConfig } from "../config.ts";
import { claimDirectory, DatabaseInUseError } from "../engine/index.ts";
import { type CommandLine, settingsArguments } from "./command-line.ts";

/** Copies to `target` (default: a dated folder beside the settings). Returns 1 and says why when that is not possible now. */
export async function backUp(line: CommandLine, target: string | undefined, now: Date): Promise<number> {
  const config = loadConfig({ ...settingsArguments(line), isDraft: true });
  const folder = resolve(line.cwd, target ?? `parley-backup-${stamp(now)}`);
  if (existsSync(folder)) return refuse(line, `${folder} exists already. Name a new folder with --to.`);
  if (isInside(folder, config.storage.dir))
    return refuse(
      line,
      `${folder} lies inside ${config.storage.dir}, which is what is copied. Choose another with --to.`,
    );
  if (!existsSync(config.storage.dir)) return refuse(line, `There is nothing in ${config.storage.dir} yet.`);
  return config.storage.databaseUrl === ""
    ? await copyEmbedded(line, config, folder)
    : await copyBesideServer(line, config, folder);
}

async function copyEmbedded(line: CommandLine, config: Config, folder: string): Promise<number> {
  const { databaseDir } = config.storage;
  if (!existsSync(databaseDir)) return refuse(line, `There is no database in ${databaseDir} yet.`);
  try {
    const claim = await claimDirectory(databaseDir);
    await copyStorage(config, folder).finally(() => claim.release());
  } catch (error) {
    if (!(error instanceof DatabaseInUseError)) throw error;
    const holder = error.pid === undefined ? "a running process" : `process ${error.pid}`;
    return refuse(
      line,
      `The embedded database is in use by ${holder}. Stop it, run this again, and start it afterwards.`,
    );
  }
  line.print(`Copied ${config.storage.dir} to ${folder}`);
  line.print("To restore: stop Parley and put that folder in the place of storage.dir.");
  remindOfKey(line, config);
  return 0;
}

async function copyBesideServer(line: CommandLine, config: Config, folder: string): Promise<number> {
  await copyStorage(config, folder);
  line.print(`Copied ${config.storage.dir} to ${folder}`);
  line.print("The database is on a PostgreSQL server. Back it up with its own tool:");
  line.print(`  pg_dump --format=custom --file=${join(folder, "database.dump")} "$DATABASE_URL"`);
  remindOfKey(line, config);
  return 0;
}

function remindOfKey(line: CommandLine, config: Config): void {
  const where = config.storage.vaultKey === "" ? config.storage.keyFile : "the variable PARLEY_VAULT_KEY";
  line.print(
    `The vault key (${where}) is not in it. Keep a copy of the key apart from the backup; without it stored secrets cannot be read.`,
  );
}

/** Sockets and notes of the claim belong to processes, not to the data. */
async function copyStorage(config: Config, folder: string): Promise<void> {
  const draft = `${folder}.incomplete`;
  await fs.rm(draft, { recursive: true, force: true });
  await fs.cp(config.storage.dir, draft, {
    recursive: true,
    filter: (source) => source !== config.storage.keyFile && !/(^|[\\/])\.s\.PGSQL\.\d+(\.lock)?$/.test(source),
  });
  await fs.rename(draft, folder);
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
}

function stamp(now: Date): string {
  return now.toISOString().slice(0, 19).replaceAll(":", "").replace("T", "-");
}

function refuse(line: CommandLine, text: string): number {
  line.complain(text);
  return 1;
}
