/**
 * Joins the engine's parts: routing in front, turns behind it, delivery beside them, one sweep that finds what a lost doorbell missed. Everything from
 * outside (adapters, tools, models, clock, log, settings) is handed in; this is the only place inside the engine where parts meet.
 */

import type { Adapter, AdapterAccount, AdapterRoute, BotHealth } from "./adapter.ts";
import type { Bot } from "./bot.ts";
import type { Clock } from "./clock.ts";
import type { Connectors } from "./connector.ts";
import { PEER_PLATFORM } from "./conversation.ts";
import { createDeliverParts, type EngineFiles } from "./delivery/deliver-parts.ts";
import { createOutbox, type Outbox } from "./delivery/outbox.ts";
import { createPeerAdapter } from "./delivery/peer-adapter.ts";
import { createSecretMask, type SecretMask } from "./delivery/secret-mask.ts";
import { createSettles, type Settles } from "./delivery/settles.ts";
import type { GuardedFetch } from "./download.ts";
import { passByLateMembers } from "./group/patience.ts";
import type { InboundEvent, Receive } from "./inbound-event.ts";
import type { Log, Metrics } from "./log.ts";
import { MAIL_RANK } from "./mail.ts";
import { measured } from "./model/measured.ts";
import type { Model, Models } from "./model/model.ts";
import type { RunQueue } from "./queue/run-queue.ts";
import { createSweeper, type SweepPass } from "./queue/sweeper.ts";
import { createWorker } from "./queue/worker.ts";
import { createAdapterContext } from "./routing/adapter-context.ts";
import { createHostCards, type HostCards } from "./routing/host-cards.ts";
import { createInstallations, type Installations, isActive } from "./routing/installations.ts";
import { createIntakeLeases, type IntakeLeases, LEASE_EVERY_MS } from "./routing/intake-leases.ts";
import { reportLostSend } from "./routing/lost-sends.ts";
import { createMembership, type Membership } from "./routing/membership.ts";
import { createReceive } from "./routing/router.ts";
import { createSecretIntake, type SecretIntake } from "./routing/secret-intake.ts";
import { createShowWaiting } from "./routing/show-waiting.ts";
import type { EngineSettings } from "./settings.ts";
import type { SkillLibrary } from "./skill.ts";
import { type Attachments, createAttachments } from "./state/attachments.ts";
import { type BotWatch, createBotWatch } from "./state/bot-watch.ts";
import { createKeptOffers } from "./state/kept-offers.ts";
import type { VaultCipher } from "./state/vault.ts";
import type { Blobs } from "./store/blobs.ts";
import type { BotSeed, Store } from "./store/store.ts";
import type { Tool } from "./tool.ts";
import { runTurn } from "./turn/run-turn.ts";

/** Everything the engine is given. */
export interface EngineParts {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly files: EngineFiles;
  readonly guardedFetch: GuardedFetch;
  readonly cipher: VaultCipher;
  readonly queue: RunQueue;
  readonly models: Models;
  readonly tools: readonly Tool[];
  /** MCP servers whose tools bots are offered; absent when there are none. */
  readonly connectors?: Connectors;
  readonly settings: EngineSettings;
  /** Skills that lie in folders; it is looked at again every two seconds. */
  readonly skills: SkillLibrary;
  /** Unique per process and start; names the holder of claims. */
  readonly owner: string;
  /** all: everything · gateway: takes events in and sends · worker: runs turns and sends (SPEC O1). Default all. */
  readonly role?: "all" | "gateway" | "worker";
  /** True when other processes serve the same bots: then leases decide who listens. */
  readonly isShared?: boolean;
  /** A bot was made or changed at run time; main makes it reachable. */
  readonly onBotChanged?: (bot: Bot) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A running engine. */
export interface Engine {
  /** Writes the configured bots and returns them as stored. */
  syncBots(bots: readonly BotSeed[]): Promise<readonly Bot[]>;
  /** Starts one bot on one platform; resolves when connected or definitely failed. Never rejects for one bot's bad credentials. */
  connect(adapter: Adapter, account: AdapterAccount): Promise<void>;
  /** Begins to run turns and to deliver. */
  run(): Promise<void>;
  readonly receive: Receive;
  /** Routes the adapters asked for. */
  readonly routes: readonly AdapterRoute[];
  /** Masks stored secrets, for log lines. */
  readonly mask: (text: string) => string;
  /** Reads again what must be masked. */
  refreshSecrets(): Promise<void>;
  health(): readonly (BotHealth & { readonly platform: string })[];
  /** Stops taking events, lets turns end for `graceMs`, then hands over. Everything unfinished goes on after the next start. */
  stop(graceMs: number): Promise<void>;
}

/** The parts that refer to each other, made once. */
interface Core {
  readonly adapters: Map<string, Adapter>;
  readonly installations: Installations;
  readonly secretMask: SecretMask;
  readonly secrets: SecretIntake;
  readonly settles: Settles;
  readonly outbox: Outbox;
  readonly attachments: Attachments;
  readonly hostCards: HostCards;
  readonly membership: Membership;
  readonly leases: IntakeLeases;
  readonly bots: BotWatch;
}

/** Creates an engine that does nothing until `run`. */
export function createEngine(parts: EngineParts): Engine {
  const core = createCore(parts);
  const { adapters, installations, secretMask, outbox } = core;
  const receive = createGuardedReceive(parts, core);
  const routes: AdapterRoute[] = [];
  const worker = createTurnWorker(parts, core);
  const sweeper = createSweeper({ ...parts, passes: sweepPasses(parts, core) });
  return {
    receive,
    routes,
    mask: secretMask.mask,
    refreshSecrets: () => secretMask.refresh(),
    syncBots: (seeds) => syncBots(parts, core, seeds),
    async connect(adapter, account) {
      adapters.set(adapter.platform, adapter);
      const leased = parts.isShared === true && parts.role !== "worker" && adapter.setIntake !== undefined;
      const intake = parts.role !== "worker" && !leased;
      const context = createAdapterContext({ ...parts, ...core, receive, routes }, adapter, account);
      await adapter.start({ ...account, intake }, context);
      if (leased) await core.leases.add(adapter, account.botId);
      await syncMemberships(parts, core, adapter, account);
    },
    async run() {
      await secretMask.refresh();
      await parts.store.restartWaits();
      for (const installation of await parts.store.listInstallations()) {
        const isKnown = installations.get(installation.id) || !isActive(installations, installation.botId);
        const bot = isKnown ? undefined : await parts.store.readBot(installation.botId);
        if (bot) installations.add(installation, bot.name);
      }
      if (parts.role !== "gateway") worker.start();
      sweeper.start();
    },
    health: () =>
      [...adapters.values()].flatMap((adapter) =>
        adapter.health().map((state) => ({ ...state, platform: adapter.platform })),
      ),
    async stop(graceMs) {
      sweeper.stop();
      await core.leases
        .release()
        .catch((error: unknown) => parts.log.warn({ error: String(error) }, "leases not given back"));
      await worker.drain(graceMs);
      await parts.queue.close(500);
      await outbox.stop(3000);
      await Promise.all([...adapters.values()].map((adapter) => adapter.stop()));
    },
  };
}

/** Writes the configured bots; the order of the settings, and then those made at run time, is the order in which Groups speak (SPEC G4). */
async function syncBots(parts: EngineParts, core: Core, seeds: readonly BotSeed[]): Promise<readonly Bot[]> {
  const bots = await parts.store.syncBots(parts.settings.orgId, seeds);
  const listed = seeds.map((bot) => bot.id);
  core.installations.setOrder([...new Set([...listed, ...bots.map((bot) => bot.id)])]);
  core.bots.know(bots);
  return bots;
}

/** What changed while nobody listened (SPEC G1). A list that cannot be read now is read by the sweep. */
async function syncMemberships(parts: EngineParts, core: Core, adapter: Adapter, account: AdapterAccount) {
  const own = core.installations
    .all()
    .filter((one) => one.botId === account.botId && one.platform === adapter.platform);
  for (const installation of own) {
    await core.membership.sync(adapter, installation).catch((error: unknown) => {
      parts.log.debug({ botId: account.botId, error: String(error) }, "the list of channels is read later");
    });
  }
}

function createCore(parts: EngineParts): Core {
  const adapters = new Map<string, Adapter>([[PEER_PLATFORM, createPeerAdapter(parts)]]);
  const lookup = (platform: string) => adapters.get(platform);
  const installations = createInstallations();
  const secretMask = createSecretMask({ ...parts, orgId: parts.settings.orgId });
  const secrets = createSecretIntake(parts);
  const settles = createSettles({ ...parts, adapters: lookup });
  const outbox = createOutbox({
    ...parts,
    adapters: lookup,
    onClosed: (closed, problem) => {
      if (closed.settleOwed) void settles.run();
      if (closed.failed && closed.sessionId) reportLostSend({ ...parts, closed, sessionId: closed.sessionId, problem });
    },
  });
  const attachments = createAttachments({
    ...parts,
    fetchUpload: async (source, signal) => {
      const fetchFile = adapters.get(source.platform)?.fetchFile;
      return fetchFile
        ? fetchFile(source.installationId, source.file, signal)
        : { ok: false, text: "Files from this platform cannot be read." };
    },
  });
  const hostCards = createHostCards({
    store: parts.store,
    adapters: lookup,
    installations,
    nudge: outbox.nudge,
    maxMembers: parts.settings.groups.maxMembers,
  });
  const membership = createMembership({ ...parts, adapters: lookup, installations, hostCards });
  const leases = createIntakeLeases(parts);
  const bots = createBotWatch({
    store: parts.store,
    orgId: parts.settings.orgId,
    onChanged: (bot) => {
      installations.setOrder([...new Set([...installations.order(), bot.id])]);
      parts.onBotChanged?.(bot);
    },
  });
  const speaking = { secretMask, secrets, settles, outbox, attachments };
  return { adapters, installations, ...speaking, hostCards, membership, leases, bots };
}

/** The router, with the mask told of every secret that comes in before anybody can speak of it. */
function createGuardedReceive(parts: EngineParts, core: Core): Receive {
  const route = createReceive({
    ...parts,
    ...core,
    adapters: (platform) => core.adapters.get(platform),
    onSettleOwed: () => void core.settles.run(),
    onFilesDue: () => void core.attachments.run(),
  });
  return async (event: InboundEvent) => {
    const reception = await route(event);
    if (event.type === "secret" && reception.status === "accepted") {
      await core.secretMask.refresh();
      parts.connectors?.secretsChanged();
    }
    return reception;
  };
}

/** Each second for what people wait for, rarely for the rest. */
function sweepPasses(parts: EngineParts, core: Core): readonly SweepPass[] {
  const { store, queue } = parts;
  const ringDue = async () => {
    for (const { sessionId, rank } of await store.dueSessions(200, [...core.adapters.keys()]))
      queue.ring(sessionId, rank);
  };
  const lookup = (platform: string) => core.adapters.get(platform);
  const patience = { ...parts, adapters: lookup, nudge: core.outbox.nudge, groups: parts.settings.groups };
  const reportLost = async () => {
    for (const sessionId of await store.reportLostMail()) queue.ring(sessionId, MAIL_RANK.bot);
  };
  const platforms = () => [...core.adapters.keys()];
  const showWaiting = createShowWaiting({ ...parts, ...parts.settings.limits, adapters: lookup, platforms });
  const turns: readonly SweepPass[] = [
    { name: "due mail", everyMs: 1000, run: ringDue },
    { name: "people who wait", everyMs: 1000, run: () => showWaiting() },
  ];
  return [
    ...(parts.role === "gateway" ? [] : turns),
    ...(parts.isShared ? [{ name: "bots made elsewhere", everyMs: 2000, run: () => core.bots.pass() }] : []),
    ...(parts.role === "gateway" ? [] : [{ name: "skills", everyMs: 2000, run: () => parts.skills.refresh() }]),
    { name: "intake leases", everyMs: LEASE_EVERY_MS, run: () => core.leases.pass() },
    { name: "due pieces", everyMs: 1000, run: () => core.outbox.sweep() },
    { name: "owed redraws", everyMs: 1000, run: () => core.settles.run() },
    { name: "due uploads", everyMs: 1000, run: () => core.attachments.run() },
    { name: "late members", everyMs: 2000, run: () => passByLateMembers(patience) },
    { name: "new Groups", everyMs: 500, run: () => core.membership.announce() },
    { name: "memberships", everyMs: 300_000, run: () => core.membership.syncAll() },
    { name: "lost messages between bots", everyMs: 30_000, run: reportLost },
    { name: "expired cards", everyMs: 30_000, run: async () => void (await store.expireCards()) },
    { name: "secrets to mask", everyMs: 30_000, run: () => core.secretMask.refresh() },
    { name: "old rows", everyMs: 3_600_000, run: () => store.prune() },
  ];
}

function createTurnWorker(parts: EngineParts, core: Core) {
  const turnParts = {
    ...parts,
    offers: parts.connectors ? createKeptOffers(parts.store.keyValues("connectors")) : undefined,
    adapters: (platform: string) => core.adapters.get(platform),
    outbox: core.outbox,
    attachments: core.attachments,
    deliver: createDeliverParts({ ...parts, maskDeep: core.secretMask.deep }),
    modelOf: (bot: Bot): Model => measured(parts.models.get(bot.model), parts),
    mask: core.secretMask.mask,
    ring: (sessionId: string, rank: number) => parts.queue.ring(sessionId, rank),
    onBotChanged: (bot: Bot) => core.bots.tell(bot),
  };
  return createWorker({
    ...parts,
    limits: parts.settings.limits,
    platforms: () => [...core.adapters.keys()],
    runTurn: (claim, running) => runTurn(turnParts, claim, running),
  });
}
