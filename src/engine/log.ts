/** What the engine needs of a logger and of metrics; the real ones are handed in by main. Content of messages never goes here (SPEC O5). */

export interface Log {
  debug(fields: object, msg: string): void;
  info(fields: object, msg: string): void;
  warn(fields: object, msg: string): void;
  error(fields: object, msg: string): void;
  /** A logger that adds these fields to every line. */
  child(fields: object): Log;
}

/** Counters and timings by name; names are fixed in src/metrics.ts. */
export interface Metrics {
  count(name: string, labels?: Record<string, string>, by?: number): void;
  observe(name: string, seconds: number, labels?: Record<string, string>): void;
}
