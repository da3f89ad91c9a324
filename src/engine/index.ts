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
export * from "./conversation.ts";
export * from "./download.ts";
export * from "./errors.ts";
export * from "./file-ref.ts";
export * from "./inbound-event.ts";
export * from "./log.ts";
export * from "./mail.ts";
export * from "./model-message.ts";
export * from "./person.ts";
export * from "./secret-value.ts";
export * from "./session.ts";
export * from "./settings.ts";
export * from "./tool.ts";
export * from "./transcript.ts";
