/**
 * Real headless Chromium for tests. Where it is not installed `findChromium` returns null and the tests that need it say so and are skipped.
 * The page under test is built once per run into a folder of its own.
 */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { build } from "vite";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of the browser, or null. `CHROMIUM_PATH` wins. */
export function findChromium(): string | null {
  const named = process.env.CHROMIUM_PATH;
  return [...(named ? [named] : []), ...PLACES].find((path) => existsSync(path)) ?? null;
}

/** Why browser tests are skipped here; for the test's name. */
export const NO_CHROMIUM = "needs Chromium (apt-get install chromium, or set CHROMIUM_PATH)";

/** Starts the browser; the caller closes it. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error(NO_CHROMIUM);
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}

/** Builds the playground's page into a temporary folder. */
export async function buildPlaygroundPage(): Promise<{ folder: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), "parley-page-"));
  const configFile = fileURLToPath(new URL("../../src/adapters/web/client/vite.config.ts", import.meta.url));
  await build({ configFile, logLevel: "error", build: { outDir: folder, emptyOutDir: true } });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
