import { defineConfig } from "vitest/config";

const shared = { pool: "threads", isolate: false, testTimeout: 30_000, hookTimeout: 60_000 } as const;

/** `unit` needs no database and no socket; `system` starts databases, emulators and the product itself. */
export default defineConfig({
  test: {
    projects: [
      { test: { ...shared, name: "unit", include: ["test/**/*.test.ts"], exclude: ["test/**/*.system.test.ts"] } },
      {
        test: {
          ...shared,
          // Real processes, databases and browsers: on a busy machine they may take their time, only never forever.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          name: "system",
          include: ["test/**/*.system.test.ts"],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
