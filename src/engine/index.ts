/**
 * The engine's only door: its public types, the errors adapters throw, and createEngine. Adapters, tools, console and cli import from here
 * and from nowhere deeper (DESIGN §3).
 */

export * from "./adapter.ts";
export * from "./bot.ts";
export * from "./bubble.ts";
export * from "./bubble-check.ts";
export * from "./card.ts";
export * from "./clock.ts";
export * from "./connector.ts";
export { untrustedName, untrustedText } from "./context/untrusted.ts";
export * from "./conversation.ts";
export * from "./create-engine.ts";
export type { EngineFiles } from "./delivery/deliver-parts.ts";
export { createMask, type Mask } from "./delivery/mask-secrets.ts";
export * from "./discussion.ts";
export * from "./download.ts";
export * from "./errors.ts";
export * from "./file-ref.ts";
export * from "./inbound-event.ts";
export * from "./log.ts";
export * from "./mail.ts";
export { createDemoFiles, type DemoFiles } from "./model/demo-files.ts";
export type { Model, ModelProblem, ModelReply, ModelRequest, Models, ModelTool, ModelUsage } from "./model/model.ts";
export { createModels, type ModelsOptions } from "./model/models.ts";
export * from "./model-message.ts";
export { escapeHtml } from "./net/escape-html.ts";
export { createGuardedFetch } from "./net/guarded-fetch.ts";
export { createGuardedHttp, type GuardedHttp } from "./net/guarded-http.ts";
export * from "./person.ts";
export * from "./plugin.ts";
export { type BullmqRunQueueParts, createBullmqRunQueue } from "./queue/bullmq-run-queue.ts";
export { createLocalRunQueue } from "./queue/local-run-queue.ts";
export type { RunQueue, SignalKind } from "./queue/run-queue.ts";
export * from "./secret-value.ts";
export * from "./session.ts";
export * from "./settings.ts";
export * from "./skill.ts";
export { type ConnectorSecrets, createConnectorSecrets } from "./state/connector-secrets.ts";
export { createPlugins, listPluginServers, type PluginParts, type Plugins, printOfPlugins } from "./state/plugins.ts";
export { createSkills, findSkills, type SkillFolders } from "./state/skills.ts";
export { createVaultCipher, type VaultCipher } from "./state/vault.ts";
export { loadVaultKey } from "./state/vault-key.ts";
export type { Blobs } from "./store/blobs.ts";
export { claimDirectory, DatabaseInUseError, type DirectoryClaim } from "./store/embedded-lock.ts";
export { createFolderBlobs } from "./store/folder-blobs.ts";
export { type OpenedStore, type OpenStoreOptions, openStore } from "./store/open-store.ts";
export { type ProbeResult, probeDatabase } from "./store/probe-database.ts";
export { readRuntimeBots } from "./store/read-runtime-bots.ts";
export type { Store } from "./store/store.ts";
export * from "./tool.ts";
export * from "./transcript.ts";
