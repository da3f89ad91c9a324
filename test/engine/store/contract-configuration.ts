import type { StoreWorld } from "./store-world.ts";
export function testConfiguration(_world: () => StoreWorld): void {
  return undefined;
}
