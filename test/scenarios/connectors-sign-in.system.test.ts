/** Signing in at a remote server: a link in a direct message, the browser's way back, and who may use what came of it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { call, done, type LlmRequest, type Script, sendMessage } from "../emulators/llm/index.ts";
import { type OAuthMcpServer, startOAuthMcpServer } from "../emulators/mcp/oauth-server.ts";
import type { Post } from "../emulators/slack/index.ts";
import { untilConnector } from "../support/connectors.ts";
import { heard } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const TIME = START_MS + 90_000;
let server: OAuthMcpServer | undefined;
afterEach(() => server?.close());

/** "tool {json}" makes that call; what the host says about a sign-in is passed on. */
const calling: Script = (request: LlmRequest) => {
  if (request.lastRole === "user") {
    const [, name = "", args = "{}"] =
      /(manage_connector|search_tools|call_tool)\s*(\{.*\})?/.exec(heard(request)) ?? [];
    if (name) return call(name, JSON.parse(args || "{}") as Record<string, unknown>);
    return request.lastUserText.includes("done, the person says") ? sendMessage("signed in, thanks") : done();
  }
  const shown = request.lastToolResult.includes("sign-in link");
  return shown || request.callsThisTurn.at(-1)?.name === "SendMessage" ? done() : sendMessage(request.lastToolResult);
};

const said = (world: World, asked: Post, words: RegExp) =>
  world.until(
    () => world.answers(asked).find((post) => words.test(post.text)),
    () => `${words} among ${JSON.stringify(world.answers(asked).map((post) => post.text))}`,
    30_000,
  );

async function signIn(world: World, person: string): Promise<{ page: Response }> {
  const asked = world.dm(person, 'manage_connector {"action":"connect","connector":"signed"}');
  const card = await said(world, asked, /can use signed for you/);
  const link = /"url":"([^"]+authorize[^"]+)"/.exec(JSON.stringify(card.blocks))?.[1] ?? "";
  const page = await fetch(link.replaceAll("\\u0026", "&"));
  await said(world, asked, /signed in, thanks/);
  await world.quiet(30_000);
  return { page };
}

async function whoami(world: World, asked: Post): Promise<string> {
  const answer = await world.answer(asked, 30_000);
  await world.quiet(30_000);
  return answer.text;
}

const WHO = 'call_tool {"name":"mcp__signed__whoami","arguments":{}}';

test(
  "a person signs in by a link, and only their direct messages can use it until an administrator shares theirs",
  async () => {
    server = await startOAuthMcpServer();
    await using world = await startWorld({ settings: { mcp: { servers: { signed: { url: server.url } } } } });
    const file = join(world.folder, "parley.yaml");
    const settings = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...settings, access: { admins: [world.person("Alice").id] } }));
    await world.restart();
    await untilConnector(world, "signed", "needs-sign-in");
    world.script("Ada", calling);
    server.visitor = "alice@example.com";
    const { page } = await signIn(world, "Alice");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("You are signed in");
    expect(await whoami(world, world.dm("Alice", WHO))).toContain("account of alice@example.com");
    expect(await whoami(world, world.dm("Bob", WHO))).toMatch(/not connected|does not exist/);
    expect(await whoami(world, world.say("Alice", `@Ada ${WHO}`))).toMatch(/not connected|does not exist/);
    expect(
      await whoami(world, world.say("Bob", '@Ada manage_connector {"action":"connect","connector":"signed"}')),
    ).toMatch(/direct message only/);
    const share = 'manage_connector {"action":"share","connector":"signed"}';
    expect(await whoami(world, world.dm("Bob", share))).toMatch(/Only administrators/);
    expect(await whoami(world, world.dm("Alice", share))).toMatch(/Everybody here can use signed/);
    await untilConnector(world, "signed", "connected");
    expect(await whoami(world, world.dm("Bob", WHO))).toContain("account of alice@example.com");
    const everything = `${world.logs.join("")}${JSON.stringify(world.llm.requests.map((one) => one.body))}`;
    for (const token of server.tokens) expect(everything).not.toContain(token);
  },
  TIME,
);

test(
  "an expired token is refreshed in silence, a link works once, and disconnecting forgets the sign-in",
  async () => {
    server = await startOAuthMcpServer();
    await using world = await startWorld({ settings: { mcp: { servers: { signed: { url: server.url } } } } });
    await untilConnector(world, "signed", "needs-sign-in");
    world.script("Ada", calling);
    server.visitor = "alice";
    const { page } = await signIn(world, "Alice");
    expect((await fetch(page.url)).status).toBe(400);
    expect(await whoami(world, world.dm("Alice", WHO))).toContain("account of alice");
    server.expire();
    expect(await whoami(world, world.dm("Alice", WHO))).toContain("account of alice");
    expect(server.refreshes()).toBe(1);
    await world.restart();
    await untilConnector(world, "signed", "needs-sign-in");
    expect(await whoami(world, world.dm("Alice", WHO))).toContain("account of alice");
    server.revoke();
    expect(await whoami(world, world.dm("Alice", WHO))).toMatch(/sign-in there is not valid any more/);
    const again = await signIn(world, "Alice");
    expect(again.page.status).toBe(200);
    expect(await whoami(world, world.dm("Alice", WHO))).toContain("account of alice");
    const ended = world.dm("Alice", 'manage_connector {"action":"disconnect","connector":"signed"}');
    expect(await whoami(world, ended)).toContain("was forgotten");
    expect(await whoami(world, world.dm("Alice", WHO))).toMatch(/not connected|does not exist/);
  },
  TIME,
);
