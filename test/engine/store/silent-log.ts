/** A logger for tests that look at results, not at lines. */
import type { Log } from "../../../src/engine/log.ts";

const nothing = () => undefined;

/** Drops every line. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silentLog };
