/** A server that comes with a plugin: nothing runs until the operator enables it, then bots use it at once, and no longer when it is disabled (SPEC P1, P2). */
import { expect, test } from "vitest";
import { call, done, sendMessage } from "../emulators/llm/index.ts";
import { pause } from "../emulators/loopback.ts";
import { connectorStates, hostile, untilConnector } from "../support/connectors.ts";
import { startGitServer } from "../support/git-server.ts";
import { deskPackage, parley } from "../support/packages.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const toolsOf = (world: World) =>
  world.llm
    .requestsOf("ada")
    .at(-1)
    ?.tools.map((tool) => tool.name) ?? [];

async function answered(world: World, words: string): Promise<string> {
  const answer = await world.answer(world.dm("Alice", words), 30_000);
  await world.quiet(30_000);
  return answer.text;
}

test(
  "a plugin's server is used in the very conversation that was going on when the operator enabled it",
  async () => {
    await using world = await startWorld();
    await using git = await startGitServer();
    git.commit("desk", { ...deskPackage(), ".mcp.json": JSON.stringify({ mcpServers: { orders: hostile("tools") } }) });
    expect((await parley(world.folder, "plugin", "add", `${git.url}/desk.git`)).code).toBe(0);
    world.script("Ada", (request) => (request.callsThisTurn.length > 0 ? done() : sendMessage("hello")));
    expect(await answered(world, "hello")).toBe("hello");
    expect(toolsOf(world).filter((name) => /^mcp__|search_tools|call_tool/.test(name))).toEqual([]);

    expect((await parley(world.folder, "plugin", "enable", "front-desk/orders")).code).toBe(0);
    await untilConnector(world, "orders", "connected");
    world.script("Ada", (request) => {
      const [name] = request.tools.map((tool) => tool.name).filter((one) => one.startsWith("mcp__orders__echo"));
      if (request.callsThisTurn.length === 0 && name) return call(name, { text: "from the plugin" });
      return request.callsThisTurn.length === 1 ? sendMessage(`It said ${request.lastToolResult}`) : done();
    });
    expect(await answered(world, "use it")).toContain("from the plugin");

    expect((await parley(world.folder, "plugin", "disable", "front-desk/orders")).code).toBe(0);
    while ((await connectorStates(world)).length > 0) await pause(40);
    expect(await answered(world, "use it again")).toContain("does not exist here, or not any more");
  },
  START_MS + 120_000,
);
