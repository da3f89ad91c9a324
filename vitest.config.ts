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
          // A build machine that falters for a moment must not look like a fault. What needed its second try is printed as "retry x1"
          // and is looked into; elsewhere there is none.
          retry: process.env.CI ? 1 : 0,
          name: "system",
          include: ["test/**/*.system.test.ts"],
          // Stories mostly wait for processes and sockets: three at a time keep two cores busy.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
