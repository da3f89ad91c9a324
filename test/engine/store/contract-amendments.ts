import type { StoreWorld } from "./store-world.ts";
export function testAmendments(_world: () => StoreWorld): void {
  return undefined;
}
