/**
 * Slash commands. They say what the typed commands say ("!stop"), so there is one place that decides what a command does.
 * Invariant: they are written to Discord only when they differ from what was written last, because Discord counts that; a bot works without them.
 */

import { createHash } from "node:crypto";
import type { MessageEvent } from "../../engine/index.ts";
import { toList, toText } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";
import { problemOf } from "./errors.ts";
import { dateOfId } from "./inbound.ts";
import type { Interaction } from "./interactions.ts";

const DESCRIPTIONS = {
  stop: "Stop what the bot is doing here",
  new: "Begin a new conversation: what was said before is left behind",
  status: "What the bot is doing and what waits",
  memory: "What the bot keeps about you and this place",
  help: "What the bot can do and how to talk to it",
} as const;

/** Discord gives a command with subcommands no form of its own; typed, it is `!group` alone. */
const SHOW = "show";

/** The commands as Discord wants them: on servers and in direct messages. */
export const COMMANDS = [
  ...Object.entries(DESCRIPTIONS).map(([name, description]) => ({ ...common(name, description), contexts: [0, 1] })),
  {
    ...common("group", "Several bots in this channel: talk to all of them at once"),
    contexts: [0],
    options: [
      { type: 1, name: SHOW, description: "Who takes part, how it is set, and what is going on" },
      { type: 1, name: "on", description: "The bots here answer together" },
      { type: 1, name: "off", description: "Each bot answers only when it is mentioned" },
      { type: 1, name: "all", description: "The Group answers every message" },
      { type: 1, name: "mention", description: "The Group answers only when one of them is mentioned" },
    ],
  },
];

function common(name: string, description: string) {
  return { name, description, type: 1, integration_types: [0] };
}

/** Writes the commands when they have changed. Never rejects. */
export async function syncCommands(bot: DiscordBot): Promise<void> {
  const key = `commands:${bot.self.appId}`;
  const version = createHash("sha256").update(JSON.stringify(COMMANDS)).digest("hex").slice(0, 16);
  try {
    if ((await bot.context.kv.get(key)) === version) return;
    await bot.calls.call("put", `/applications/${bot.self.appId}/commands`, { body: COMMANDS });
    await bot.context.kv.set(key, version);
  } catch (error) {
    bot.log.warn(
      { code: problemOf(error).code },
      "discord commands could not be written; typed commands work all the same",
    );
  }
}

/** The command as it was given, for people. */
export function commandName(it: Interaction): string {
  return `/${[toText(it.data.name) ?? "", ...subcommands(it)].join(" ")}`;
}

/** The same as the typed form: "@Ada !stop". */
export function commandEvent(bot: DiscordBot, it: Interaction, installationId: string): MessageEvent {
  const handle = `@${bot.name}`;
  const choices = subcommands(it).filter((name) => name !== SHOW);
  const words = [`!${toText(it.data.name) ?? "help"}`, ...choices].join(" ");
  return {
    type: "message",
    dedupeKey: `discord:${it.channelId}:interaction:${it.id}`,
    installationId,
    conversation: it.conversation,
    at: dateOfId(it.id),
    from: it.from,
    platformId: it.id,
    text: `${handle} ${words}`,
    mentions: [{ platformId: bot.self.botUserId, start: 0, end: handle.length }],
    quoted: [],
    everyone: false,
    namesBot: true,
    files: [],
  };
}

function subcommands(it: Interaction): readonly string[] {
  return toList(it.data.options).flatMap((option) => (option.type === 1 ? (toText(option.name) ?? []) : []));
}
