/**
 * What every command is given: where it runs and how it speaks. Handed in, so that a command can be tried without a terminal, a network or this
 * process's environment. A command returns its exit code: 0 done, 1 something is wrong and was said.
 */

/** The surroundings of one command. */
export interface CommandLine {
  readonly cwd: string;
  /** The settings file named by --config. */
  readonly configFile: string | undefined;
  /** Instead of this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Writes one line to standard output. */
  print(line: string): void;
  /** Writes one line to standard error. */
  complain(line: string): void;
  readonly fetch: typeof fetch;
}

/** What a platform's adapter offers to operators before anything runs. All parts are optional, as platforms differ. */
export interface PlatformSetup {
  /** The app description a person pastes or opens when making the app, and what to do next. */
  manifest?(bot: ManifestRequest): PlatformManifest;
  /** Asks the platform whether these credentials work; `fix` mends what it can. Contract: never throws and answers within 15 s. */
  check?(bot: {
    readonly botId: string;
    readonly settings: unknown;
    readonly apiUrl: string;
    readonly fix?: boolean;
    /** Receipts are switched on, so the permission to react is needed for them. */
    readonly receipts?: boolean;
  }): Promise<readonly Finding[]>;
  /** The link that adds the bot to a place of the platform. Throws an Error whose message is for the operator. */
  invite?(bot: {
    readonly botId: string;
    readonly settings: unknown;
    readonly apiUrl: string;
    readonly threads: boolean;
  }): Promise<{ readonly link: string }>;
}

/** What a manifest is made from. */
export interface ManifestRequest {
  readonly botId: string;
  readonly name: string;
  readonly role: string;
  readonly mode: "socket" | "http";
  /** Needed for http. Without trailing slash. */
  readonly publicUrl?: string;
  /** The app is to be added to further workspaces. */
  readonly isDistributed?: boolean;
}

/** An app description: the text itself and a link that opens it ready to be confirmed. */
export interface PlatformManifest {
  readonly text: string;
  readonly link: string;
}

/** One thing that was looked at. `fix` says what to do about a fault or a warning. */
export interface Finding {
  readonly state: "ok" | "warning" | "fault";
  readonly what: string;
  readonly fix?: string | undefined;
}

/** The variables of a bot's Slack tokens, as `init` and `bot add` write them: ADA_SLACK_BOT_TOKEN for the bot ada. */
export function variableFor(botId: string, part: string): string {
  const name = botId.toUpperCase().replaceAll("-", "_");
  // A variable cannot begin with a digit.
  return `${/^\d/.test(name) ? "BOT_" : ""}${name}_${part}`;
}

/** The flags that settings are loaded with. */
export function settingsArguments(line: CommandLine): {
  argv: string[];
  cwd: string;
  env?: NonNullable<CommandLine["env"]>;
} {
  const argv = line.configFile === undefined ? [] : ["--config", line.configFile];
  return { argv, cwd: line.cwd, ...(line.env === undefined ? {} : { env: line.env }) };
}
