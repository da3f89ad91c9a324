/**
 * One JSON line per event on standard output: level, time, msg and fields (SPEC O5). Implements the engine's Log.
 * Invariant: no line holds a known secret value, in any of its spellings, nor a link token; fields are cut down by log-fields.ts first.
 * Which values are secret is the caller's knowledge: main hands in a mask that may grow while the process runs.
 */
import { type Logger, pino } from "pino";
import type { LogLevel } from "./config.ts";
import type { Log } from "./engine/index.ts";
import { cleanFields } from "./log-fields.ts";

/** What a log needs. */
export interface LogOptions {
  /** Least severe line that is written. Default info. */
  readonly level?: LogLevel;
  /** Replaces known secrets in a text; asked for every line, so it may come to know more. */
  readonly mask: (text: string) => string;
  /** Takes one finished line with its line end. Default: standard output. */
  readonly write?: (line: string) => void;
}

/** One-time addresses are as good as passwords until they are used. */
const LINK_TOKEN = /\/s\/[A-Za-z0-9_-]{20,}/g;

/** Makes the process's log. It never throws: a log that cannot be written must not end a turn. */
export function createLog(options: LogOptions): Log {
  const write = options.write ?? writeToStandardOutput;
  const stream = { write: (line: string) => write(hideSecrets(line, options.mask)) };
  const logger = pino(
    {
      level: options.level ?? "info",
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return wrap(logger);
}

function wrap(logger: Logger): Log {
  return {
    debug: (fields, msg) => logger.isLevelEnabled("debug") && logger.debug(cleanFields(fields), msg),
    info: (fields, msg) => logger.info(cleanFields(fields), msg),
    warn: (fields, msg) => logger.warn(cleanFields(fields), msg),
    error: (fields, msg) => logger.error(cleanFields(fields), msg),
    child: (fields) => wrap(logger.child(cleanFields(fields))),
  };
}

function hideSecrets(line: string, mask: (text: string) => string): string {
  const hidden = mask(line).replace(LINK_TOKEN, "/s/[secret]");
  return hidden === line || isJson(hidden) ? hidden : unreadable();
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** A secret that looks like JSON's own punctuation would tear the line apart; then losing the line is the lesser harm. */
function unreadable(): string {
  return `${JSON.stringify({ level: "warn", time: new Date().toISOString(), msg: "a log line was left out because a secret ran across its fields" })}\n`;
}

function writeToStandardOutput(line: string): void {
  if (!process.stdout.listeners("error").includes(ignoreClosedPipe)) process.stdout.on("error", ignoreClosedPipe);
  process.stdout.write(line);
}

/** With the reader gone (a closed pipe) there is nobody left to tell; bots go on answering without a log. */
const ignoreClosedPipe = () => undefined;
