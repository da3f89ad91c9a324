/**
 * `parley init`: writes a parley.yaml and a .env to start from. Invariant: a file that is there is never touched, and what is written loads at
 * once, without any variable set.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { CommandLine } from "./command-line.ts";

const SETTINGS = `# Settings of Parley. parley.example.yaml shows every key; \${NAME} reads a variable of the environment or of .env.

# Without a model and without a provider's key, bots run on the demo model.
# model: anthropic/claude-sonnet-5

bots:
  - id: ada                       # stays for ever: memory and tokens hang on it
    name: Ada
    role: Research teammate. Finds sources, compares them, says what is uncertain.
    # In Slack: npx parley manifest ada makes the app, then put its tokens into .env
    # slack: { botToken: "\${ADA_SLACK_BOT_TOKEN}", appToken: "\${ADA_SLACK_APP_TOKEN}" }
  - id: bo
    name: Bo
    role: Engineering teammate. Reads code, explains trade-offs, keeps answers short and exact.
  - id: cy
    name: Cy
    role: Operations teammate. Plans, makes checklists, asks before anything that cannot be undone.
`;

const VARIABLES = `# Read at start; variables that are set in the environment win over this file. Keep it out of version control.

# One provider's key is enough.
# ANTHROPIC_API_KEY=
# OPENAI_API_KEY=
# GOOGLE_GENERATIVE_AI_API_KEY=
# XAI_API_KEY=

# Slack, for the bot ada
# ADA_SLACK_BOT_TOKEN=xoxb-
# ADA_SLACK_APP_TOKEN=xapp-

# Needed when web.host is not this machine alone
# PARLEY_PASSWORD=
`;

/** The text that `init` writes as parley.yaml. */
export const newSettings = (): string => SETTINGS;

/** Writes what is missing and says what it did. */
export function init(line: CommandLine): number {
  const settings = resolve(line.cwd, line.configFile ?? "parley.yaml");
  writeUnlessThere(settings, SETTINGS, 0o644, line);
  writeUnlessThere(join(line.cwd, ".env"), VARIABLES, 0o600, line);
  line.print("Next: put a provider's key into .env, then npm start. For Slack: npx parley manifest ada");
  return 0;
}

/** `wx` fails when the file exists, so nothing can be overwritten between a look and the writing. */
function writeUnlessThere(file: string, text: string, mode: number, line: CommandLine): void {
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, text, { flag: "wx", mode });
    line.print(`Wrote ${file}`);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    line.print(`Left ${file} as it is`);
  }
}
