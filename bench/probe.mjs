/**
 * Runs inside a measured process and tells the measuring one over the IPC channel what it has used: `{ ask: "usage" }` is answered after a full
 * garbage collection, so that heaps can be compared. Needs --expose-gc. Plain JavaScript, because a loader for TypeScript would be measured too.
 */
import { setTimeout as delay } from "node:timers/promises";

/** Starts answering. `counters()` are further figures of the process, for example its database round trips. */
export function answerQuestions(counters = () => ({})) {
  let collectingMs = 0;
  process.on("message", async ({ ask }) => {
    if (ask !== "usage") return;
    const cpuMs = cpuTime() - collectingMs;
    const counted = counters();
    const before = cpuTime();
    // Finalisers run between two collections and free what the first one only marked.
    globalThis.gc?.();
    await delay(20);
    globalThis.gc?.();
    collectingMs += cpuTime() - before;
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send?.({ usage: { cpuMs, rss, heapUsed, external, ...counted } });
  });
  process.channel?.unref();
}

function cpuTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Reports a point on the way to being started, in milliseconds since the process was made. */
export function reach(phase) {
  process.send?.({ phase, at: performance.timeOrigin + performance.now() });
}
