/**
 * The real product with its real Discord libraries and database on an emulated Discord, with scripted models: the smaller sister of world.ts.
 * Invariant: nothing waits for time, only for conditions.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bot, type Channel, type Discord, startDiscord, type User } from "../emulators/discord/index.ts";
import { type Llm, startLlm } from "../emulators/llm/index.ts";
import { type Product, startInside } from "./product.ts";
import { echo } from "./scripts.ts";

/** What the stage holds. */
export interface DiscordStage extends AsyncDisposable {
  readonly discord: Discord;
  readonly llm: Llm;
  readonly bots: readonly Bot[];
  readonly ada: Bot;
  readonly alice: User;
  readonly bob: User;
  readonly general: Channel;
  readonly logs: string[];
  readonly folder: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts Discord, models and product; `settings` are laid over the settings file, `platform` over its Discord block. */
export async function openDiscordStage(
  options: {
    readonly bots?: readonly string[];
    readonly settings?: Readonly<Record<string, unknown>>;
    readonly platform?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<DiscordStage> {
  const discord = await startDiscord();
  const llm = await startLlm({ fallback: echo });
  const bots = (options.bots ?? ["Ada"]).map((name) => discord.addBot({ name }));
  const [ada] = bots;
  if (!ada) throw new Error("a stage needs a bot");
  const people = { alice: discord.addPerson("Alice"), bob: discord.addPerson("Bob") };
  const general = discord.addChannel("general");
  const folder = mkdtempSync(join(tmpdir(), "parley-stage-"));
  writeFileSync(
    join(folder, "parley.yaml"),
    JSON.stringify({ ...settingsFor(discord, llm, bots, options.platform), ...options.settings }),
  );
  const logs: string[] = [];
  const begin = () => startInside({ folder, env: { PARLEY_LOG_LEVEL: "debug" }, logs });
  let product: Product | undefined = await begin();
  const stop = async () => {
    const ending = product;
    product = undefined;
    await ending?.stop();
  };
  const close = async () => {
    await stop();
    await Promise.all([discord.close(), llm.close()]);
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    ...{ discord, llm, bots, ada, general, logs, folder, ...people },
    async restart() {
      await stop();
      product = await begin();
    },
    stop,
    [Symbol.asyncDispose]: close,
  };
}

function settingsFor(discord: Discord, llm: Llm, bots: readonly Bot[], platform: object = {}): object {
  return {
    model: "local/ada",
    providers: { local: { kind: "openai-compatible", baseURL: llm.openaiUrl, apiKey: "any", contextWindow: 128_000 } },
    bots: bots.map((bot) => ({
      id: bot.name.toLowerCase(),
      name: bot.name,
      role: `${bot.name} helps the team of this test.`,
      model: `local/${bot.name.toLowerCase()}`,
      discord: { token: bot.token },
    })),
    discord: { apiUrl: discord.apiUrl, cdnHosts: ["127.0.0.1"], ...platform },
    web: { port: 0 },
  };
}
