/**
 * `npm run dev:emulated`: the whole product against an emulated Slack and an emulated language model, for looking at it without any account. The Slack
 * page (printed below) lets a developer write as a person and press what the bots post; the playground runs beside it.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { start } from "../../src/main.ts";
import { helpfulScript, startLlm } from "./llm/index.ts";
import { startSlack } from "./slack/index.ts";

const NAMES = ["Ada", "Bo"];

async function run(): Promise<void> {
  const slack = await startSlack({ teamName: "Emulated" });
  const llm = await startLlm();
  const people = ["Alice", "Bob"].map((name) => slack.addPerson(name));
  const apps = NAMES.map((name) => slack.addApp({ name }));
  for (const [i, app] of apps.entries()) slack.addChannel(`with-${NAMES[i]?.toLowerCase()}`, [app, ...people]);
  for (const name of NAMES) llm.script(name.toLowerCase(), helpfulScript);
  const folder = join(process.cwd(), "data", "emulated");
  await mkdir(folder, { recursive: true });
  const file = join(folder, "parley.yaml");
  const bots = apps.map((app, i) => ({
    id: NAMES[i]?.toLowerCase(),
    name: NAMES[i],
    role: "Helpful teammate of the emulated workspace.",
    model: `local/${NAMES[i]?.toLowerCase()}`,
    slack: { botToken: app.botToken, appToken: app.appToken },
  }));
  const settings = {
    providers: {
      local: { kind: "openai-compatible", baseURL: llm.openaiUrl, apiKey: "emulated", contextWindow: 128_000 },
    },
    bots,
    slack: { apiUrl: slack.apiUrl },
    storage: { dir: join(folder, `run-${process.pid}`) },
  };
  await writeFile(file, stringify(settings), { mode: 0o600 });
  const product = await start({ argv: ["--config", file] });
  process.stderr.write(`\nEmulated Slack: ${slack.url}\nPlayground:     ${product.url}\n\n`);
  const stop = async () => {
    await product.stop();
    await slack.close();
    await llm.close();
    process.exit(0);
  };
  process.once("SIGINT", () => void stop());
  process.once("SIGTERM", () => void stop());
}

await run();
