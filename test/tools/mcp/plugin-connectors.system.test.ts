/** Connectors that come with a plugin: known, but off until an administrator switches them on. */
import { expect, test } from "vitest";
import { createSystemClock, type Log, type ToolContext } from "../../../src/engine/index.ts";
import { createConnectors, readServersFile } from "../../../src/tools/index.ts";
import { waitUntil } from "../../emulators/loopback.ts";
import { hostile } from "../../support/connectors.ts";
import { createMemoryKv } from "../../support/memory-kv.ts";

const quiet = () => undefined;
const log: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => log };

function connectors() {
  const { definitions } = readServersFile({ mcpServers: { extra: hostile("tools") } }, "plug");
  const made = createConnectors({
    servers: {},
    kv: createMemoryKv(),
    secrets: {
      read: async () => null,
      keep: async () => undefined,
      kept: async () => null,
      forget: async () => undefined,
    },
    allowPrivateHosts: [],
    baseUrl: () => "",
    receive: async () => ({ status: "ignored" }),
    onSecrets: quiet,
    samplingModel: () => {
      throw new Error("no model here");
    },
    clock: createSystemClock(),
    log,
  });
  made.connections.add(definitions);
  return made;
}

test("a plugin's server runs only after an administrator has switched it on, and stops when it is switched off or removed", async () => {
  const { connections, tools } = connectors();
  await connections.start();
  const stateOf = () => connections.health().map(({ connector, state }) => `${connector} ${state}`);
  expect(stateOf()).toEqual(["extra off"]);
  const manage = tools.find((tool) => tool.name === "manage_connector");
  const as = (role: string) => ({ authority: { role, personIds: ["p"], names: {} } }) as unknown as ToolContext;
  const ask = (action: string, role: string) => manage?.execute({ action, connector: "extra" }, as(role));
  expect(await ask("enable", "member")).toMatchObject({ ok: false });
  expect(stateOf()).toEqual(["extra off"]);
  expect(await ask("enable", "admin")).toMatchObject({ ok: true });
  await waitUntil(() => stateOf()[0] === "extra connected", "the plugin's server", 20_000);
  expect(await ask("disable", "admin")).toMatchObject({ ok: true });
  expect(stateOf()).toEqual(["extra off"]);
  await connections.remove("plug");
  expect(stateOf()).toEqual([]);
  await connections.stop();
});
