/**
 * Figures to read: rounds within a time budget, medians and percentiles, aligned tables, ratios. A table's first column is text, the others
 * stand right.
 */

/** Prints a titled table; undefined cells stay empty. */
export function printTable(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): void {
  const cells = [columns, ...rows.map((row) => row.map((cell) => cell ?? ""))];
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ");
  console.log(`\n${title}\n`);
  for (const [i, row] of cells.entries()) {
    console.log(`  ${line(row).trimEnd()}`);
    if (i === 0) console.log(`  ${"-".repeat(widths.reduce((sum, width) => sum + width + 2, -2))}`);
  }
}

/** Remarks below a table. */
export function printNote(text: string): void {
  console.log(`\n  ${text}`);
}

/** Counts rounds up to `atMost`; on a slow machine fewer, but one at least: no new one begins after `budgetMs`. */
export function* rounds(atMost: number, budgetMs: number): Generator<number> {
  const end = performance.now() + budgetMs;
  for (let round = 0; round < atMost && (round === 0 || performance.now() < end); round += 1) yield round;
}

/** The value below which this share (0 to 1) of the values lies; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Milliseconds, precise where it matters. */
export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
}

/** Bytes as MB. */
export function mb(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(Math.abs(bytes) < 10_000_000 ? 2 : 0)} MB`;
}

/** How many times the second the first is. */
export function ratio(value: number, base: number): string {
  return `× ${(value / base).toFixed(value / base < 10 ? 1 : 0)}`;
}
