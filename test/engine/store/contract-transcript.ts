import type { StoreWorld } from "./store-world.ts";
export function testTranscript(_world: () => StoreWorld): void {
  return undefined;
}
