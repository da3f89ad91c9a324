/**
 * A chat platform in memory and a store that can die, for schedules of Groups: what was posted survives every engine, as on a real platform, and an engine
 * whose store has died changes nothing any more, as a process after kill -9.
 */
import type { Adapter, AdapterContext, Piece } from "../../src/engine/adapter.ts";
import type { Installation } from "../../src/engine/bot.ts";
import type { Store } from "../../src/engine/store/store.ts";

/** What stands on the platform, oldest first. */
export interface Posted {
  readonly pieceId: string;
  readonly installationId: string;
  readonly text: string;
}

/** What all engines share. */
export interface Platform {
  readonly posted: Posted[];
  /** Accounts in each channel, by native id. */
  readonly members: Map<string, readonly string[]>;
}

/** One engine's way to the platform; `isDead` = its process is gone. */
export function createPlatformAdapter(platform: Platform, isDead: () => boolean, known: Installation[]): Adapter {
  return {
    platform: "test",
    maxTextPieces: 4,
    deliverTimeoutMs: 5000,
    async start(account, context: AdapterContext) {
      const facts = { appId: account.botId, workspaceId: "W", botUserId: userIdOf(account.botId), otherIds: [] };
      known.push(await context.identify(account, facts));
    },
    stop: async () => undefined,
    render: (delivery) => [
      delivery.kind === "bubble" && delivery.content.type === "text" ? delivery.content.content : "(host)",
    ],
    async deliver({ id, place, content }: Piece) {
      if (isDead()) throw new Error("this process is gone");
      platform.posted.push({ pieceId: id, installationId: place.installationId, text: String(content) });
      return { nativeId: `p${platform.posted.length}` };
    },
    async find({ id }: Piece) {
      const at = platform.posted.findIndex((one) => one.pieceId === id);
      return at < 0 ? null : { nativeId: `p${at + 1}` };
    },
    settle: async () => undefined,
    history: async () => [],
    members: async (_installationId, channelId) => platform.members.get(channelId) ?? [],
    health: () => [],
  };
}

/** The native account of a bot. */
export function userIdOf(botId: string): string {
  return `U_${botId.toUpperCase()}`;
}

/** Operations in which a process may die: those that take in, claim, think, say and end. */
export const VITAL: readonly string[] = [
  ...["takeIn", "claim", "viewSession", "beginTurn", "commitReply", "commitSend", "commitCall", "finishTurn"],
  ...["readDiscussion", "startPiece", "closePiece", "sendState"],
];

/** The n-th call of this operation is the last: it happens or not, and nobody hears of it. */
export interface Death {
  readonly on: string;
  readonly at: number;
  readonly afterCommit: boolean;
  onDeath(): void;
}

/** A store of a process that may die. */
export function createMortalStore(store: Store, death: Death | undefined): { store: Store; isDead(): boolean } {
  let dead = false;
  let count = 0;
  const gone = () => Promise.reject(new Error("this process is gone"));
  const wrap =
    (name: string, work: (...args: unknown[]) => unknown) =>
    async (...args: unknown[]) => {
      if (dead) return gone();
      if (death && name === death.on && ++count === death.at) {
        dead = true;
        if (death.afterCommit) await work(...args);
        death.onDeath();
        return gone();
      }
      const result = await work(...args);
      return dead ? gone() : result;
    };
  const mortal = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || name === "keyValues") return value;
      return wrap(String(name), value.bind(target) as (...args: unknown[]) => unknown);
    },
  });
  return { store: mortal, isDead: () => dead };
}
