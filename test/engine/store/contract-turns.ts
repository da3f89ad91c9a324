import type { StoreWorld } from "./store-world.ts";
export function testTurns(_world: () => StoreWorld): void {
  return undefined;
}
