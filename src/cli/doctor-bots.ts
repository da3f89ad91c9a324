/** The doctor's look at bots that were made or changed at run time: where they differ from the settings file, which never overwrites them (SPEC A3). */
import type { Config } from "../config.ts";
import { type Bot, readRuntimeBots } from "../engine/index.ts";
import type { Finding } from "./command-line.ts";

/** One line for each difference; none when there is none, or no database to ask. */
export async function checkRuntimeBots({ bots, storage }: Config): Promise<Finding[]> {
  const changed = await readRuntimeBots({ databaseUrl: storage.databaseUrl, directory: storage.databaseDir });
  return (changed ?? []).map((bot) =>
    differenceOf(
      bot,
      bots.find((one) => one.id === bot.id),
    ),
  );
}

function differenceOf(bot: Bot, settings: Config["bots"][number] | undefined): Finding {
  if (!settings)
    return { state: "ok", what: `bot ${bot.id}: ${bot.name} was made at run time; it lives in the playground` };
  const parts = (["name", "role", "model", "lanes"] as const)
    .filter((key) => bot[key] !== settings[key])
    .map((key) => `${key} is ${shorten(bot[key])}, the settings file says ${shorten(settings[key])}`);
  const what = parts.length > 0 ? parts.join("; ") : "as in the settings file";
  return {
    state: parts.length > 0 ? "warning" : "ok",
    what: `bot ${bot.id}: changed at run time: ${what}`,
    ...(parts.length > 0
      ? { fix: "What was changed at run time counts. To undo it, ask a bot to change it back." }
      : {}),
  };
}

function shorten(value: string | number): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
