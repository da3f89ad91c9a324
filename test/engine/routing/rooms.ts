/** Rooms for routing tests: a workspace with Ada and Bo, made anew for each test. */
import { randomBytes } from "node:crypto";
import type { EngineSettings } from "../../../src/engine/settings.ts";
import { createVaultCipher } from "../../../src/engine/state/vault.ts";
import { unique } from "../store/store-place.ts";
import type { StoreWorld } from "../store/store-world.ts";
import { Room } from "./routing-world.ts";

const baseSettings: EngineSettings = {
  orgId: "org",
  threads: "sticky",
  replies: { test: "thread" },
  access: {
    directMessages: "open",
    guests: "deny",
    external: "deny",
    people: [],
    admins: ["U_BOSS"],
    bots: "none",
    secretConnectors: "any",
  },
  limits: {
    waitMs: 3000,
    debounceMs: 0,
    maxSteps: 200,
    turnMs: 1,
    ageingMs: 1,
    mailPerSession: 50,
    leaseMs: 1,
    receiptWaitMs: 1,
    bubblesPerTurn: 25,
    toolMs: 1,
    modelMs: 1,
    secretTtlMs: 3_600_000,
  },
  groups: {
    activation: "all",
    channels: [],
    maxMembers: 6,
    maxRounds: 3,
    maxBubbles: 10,
    maxPerTurn: 2,
    patienceMs: 120_000,
  },
  fallbackModels: [],
  sendMessageGuidance: true,
  publicUrl: "https://bots.example",
  localLinks: true,
};

/** One vault key for all rooms: what one sealed another opens. */
const key = { id: "k1", bytes: randomBytes(32) };
export const cipher = createVaultCipher({ current: key, all: [key] });

/** A new room; `settings` are laid over the usual ones. */
export async function newRoom(
  world: StoreWorld,
  settings: { access?: Partial<EngineSettings["access"]>; limits?: Partial<EngineSettings["limits"]> } & Partial<
    Omit<EngineSettings, "access" | "limits">
  > = {},
): Promise<Room> {
  const workspaceId = unique("W");
  const orgId = unique("org");
  const install = async (id: "ada" | "bo", name: string) => {
    const botId = `${id}-${workspaceId.toLowerCase()}`;
    const seed = { id: botId, name, role: "", model: "demo", lanes: 4 };
    return {
      seed,
      facts: {
        botId,
        platform: "test",
        appId: unique("A"),
        workspaceId,
        botUserId: `U_${id.toUpperCase()}`,
        otherIds: [`B_${id.toUpperCase()}`],
        credentialRef: "x",
      },
    };
  };
  const [ada, bo] = [await install("ada", "Ada"), await install("bo", "Bo Diddley")];
  await world.store.syncBots(orgId, [ada.seed, bo.seed]);
  const bots = {
    ada: await world.store.saveInstallation(orgId, ada.facts),
    bo: await world.store.saveInstallation(orgId, bo.facts),
  };
  const merged: EngineSettings = {
    ...baseSettings,
    ...settings,
    orgId,
    access: { ...baseSettings.access, ...settings.access },
    limits: { ...baseSettings.limits, ...settings.limits },
  };
  return new Room(world, merged, bots, workspaceId, cipher);
}
