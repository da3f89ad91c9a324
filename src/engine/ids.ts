/** Opaque ids: time-ordered, so that rows made together lie together in an index. */

import { randomBytes } from "node:crypto";

/** `prefix_` + 10 base-36 characters of time + 16 random ones. Unique without coordination. */
export function newId(prefix: string, now: number = Date.now()): string {
  const time = now.toString(36).padStart(9, "0");
  return `${prefix}_${time}${randomBytes(10).toString("hex")}`;
}
