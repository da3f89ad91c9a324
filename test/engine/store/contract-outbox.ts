import type { StoreWorld } from "./store-world.ts";
export function testOutbox(_world: () => StoreWorld): void {
  return undefined;
}
