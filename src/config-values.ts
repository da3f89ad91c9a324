/**
 * The settings as the rest of the program gets them: checked values, defaults applied, variables filled in, paths absolute. Types only; config.ts
 * makes them and hands them out again, so importers need no second file.
 */
import type { BotEntry, BuiltInProvider, FileSettings } from "./config-schema.ts";

/** What a process does: everything, only platforms and web, or only turns (SPEC O1). */
export type ProcessRole = "all" | "gateway" | "worker";

/** Least severe line that is logged. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** A bot with its model decided. */
export type BotConfig = BotEntry & { readonly model: string };

/** A provider of the settings file. */
export type ProviderConfig = FileSettings["providers"][string];

/** Where the bots come from: the settings file, platform tokens in the environment, or the built-in demo. */
export type BotOrigin = "file" | "environment" | "demo";

/** Something the operator should know that stops nothing; main logs it as a warning. */
export type Warning = string;

/** Every setting as a value: defaults applied, variables filled in, paths absolute. */
export interface Config {
  readonly role: ProcessRole;
  /** The settings file read; absent when there is none. */
  readonly file: string | undefined;
  readonly origin: BotOrigin;
  readonly logLevel: LogLevel;
  readonly fallbackModels: readonly string[];
  readonly utilityModel: string | undefined;
  /** From the file, by name. An entry with a built-in name replaces the built-in provider. */
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  /** Keys of built-in providers that were found. */
  readonly providerKeys: Readonly<Partial<Record<BuiltInProvider, string>>>;
  readonly bots: readonly BotConfig[];
  readonly slack: FileSettings["slack"];
  readonly discord: FileSettings["discord"];
  readonly groups: FileSettings["groups"];
  readonly threads: FileSettings["threads"];
  readonly access: FileSettings["access"];
  readonly limits: FileSettings["limits"];
  readonly net: FileSettings["net"];
  /** `password` is "" when none is asked for; `publicUrl` has no trailing slash, or is "". */
  readonly web: { readonly host: string; readonly port: number; readonly publicUrl: string; readonly password: string };
  readonly storage: StorageConfig;
  readonly mcp: FileSettings["mcp"];
  /** Folders or git addresses; folders are relative to `baseDir`. */
  readonly plugins: readonly string[];
  readonly baseDir: string;
  /** What git may see of the environment when it fetches a plugin. */
  readonly gitEnv: Readonly<Record<string, string>>;
  readonly warnings: readonly Warning[];
}

/** Where things are kept. Paths are absolute; addresses are "" when embedded. */
export interface StorageConfig {
  readonly dir: string;
  /** Folder of the embedded database, used when `databaseUrl` is "". */
  readonly databaseDir: string;
  /** Folder of stored attachments. */
  readonly filesDir: string;
  /** Folder the bots share as their workspace. */
  readonly workspaceDir: string;
  /** Folder of installed plugins. */
  readonly pluginsDir: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly keyFile: string;
  /** One or more vault keys from PARLEY_VAULT_KEY, or "" when the key file is used. */
  readonly vaultKey: string;
}
