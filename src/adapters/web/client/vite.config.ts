/**
 * Builds the playground's page into dist/adapters/web/public. Everything lands as files with a hash in the name: the page's content policy allows
 * neither inline scripts nor data URLs for code.
 */

import { defineConfig } from "vite";

const here = new URL(".", import.meta.url).pathname;

export default defineConfig({
  root: here,
  base: "/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: `${here}../../../../dist/adapters/web/public`,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
});
