/** One bot in several workspaces: "Add to Slack" from the browser's side, tokens kept apart, one removal that ends one installation. */

import { expect, test } from "vitest";
import { createSlackAdapter } from "../../src/adapters/slack/index.ts";
import type { AdapterRoute, MessageEvent } from "../../src/engine/index.ts";
import { conversationKey } from "../../src/engine/index.ts";
import type { App } from "../emulators/slack/index.ts";
import { bubble, deliver, waitUntil } from "./deliveries.ts";
import { openSlackWorld, type SlackWorld } from "./slack-world.ts";

const ORIGIN = "http://127.0.0.1:9";

function scene(title: string, run: (world: SlackWorld) => Promise<void>): void {
  test(title, async () => {
    const world = await openSlackWorld({ start: false });
    try {
      await run(world);
    } finally {
      await world.close();
    }
  });
}

const startWith = (w: SlackWorld, more: Record<string, string> = {}) => {
  const { appToken, clientId, clientSecret } = w.ada;
  return w.startBot(w.ada, { appToken, clientId, clientSecret, ...more });
};
const call = (w: SlackWorld, path: string): Promise<Response> => {
  const url = new URL(path, ORIGIN);
  const name = url.pathname.split("/").at(-1);
  const route = w.routes.find((one: AdapterRoute) => one.method === "GET" && one.path.endsWith(`/${name}`));
  if (!route) throw new Error(`no route for ${path}`);
  return route.handle(new Request(url), { bot: url.pathname.split("/")[2] ?? "" });
};
const begin = async (w: SlackWorld): Promise<string> =>
  (await call(w, "/slack/ada/install")).headers.get("location") ?? "";
/** Everything a person does to add the bot to a workspace. */
const add = async (
  w: SlackWorld,
  name: string,
  options: { enterprise?: ReturnType<SlackWorld["slack"]["addTeam"]> } = {},
) => {
  const team = w.slack.addTeam(name);
  const answer = await call(w, w.slack.consent(await begin(w), team, options).href);
  const app = w.slack.workspace.apps.findLast((one) => one.team === team);
  if (!app) throw new Error("not installed");
  return { team, app, status: answer.status, words: await answer.text() };
};
const placeOf = (w: SlackWorld, app: App, event: MessageEvent) => w.placeIn({ ...event.conversation }, app);

scene(
  "a bot without a token starts when it is added to its first workspace, and says until then what to do",
  async (w) => {
    await startWith(w);
    expect(w.adapter.health()).toMatchObject([
      { state: "failed", remedy: expect.stringContaining("/slack/ada/install") },
    ]);
    const { team, words, status } = await add(w, "Beta");
    expect([status, words]).toEqual([200, expect.stringContaining("added to Beta")]);
    await waitUntil(() => w.adapter.health()[0]?.state === "connected", "a connection");
    const gina = w.slack.addPerson("Gina", { team });
    const app = w.slack.workspace.apps.at(-1);
    if (!app) throw new Error("no installation");
    const channel = w.slack.addChannel("beta", [app, gina], { team });
    w.slack.say(gina, channel, `${w.slack.mention(app)} hello from beta`);
    const event = await w.message("hello from beta");
    expect(event).toMatchObject({
      conversation: { workspaceId: team.id },
      from: { name: "Gina", kind: "member" },
      namesBot: true,
    });
  },
);

scene("the consent page gets the bot's scopes, a state and the way back", async (w) => {
  await startWith(w);
  const page = new URL(await begin(w));
  expect(page.origin).toBe(new URL(w.slack.apiUrl).origin);
  expect(page.searchParams.get("scope")?.split(",")).toEqual(
    expect.arrayContaining(["chat:write", "commands", "files:read"]),
  );
  expect(page.searchParams.get("redirect_uri")).toBe(`${ORIGIN}/slack/ada/oauth`);
  expect((page.searchParams.get("state") ?? "").length).toBeGreaterThan(40);
  expect(page.href).not.toContain(w.ada.clientSecret);
});

scene("equal channel ids of two workspaces are two conversations, each answered with its own token", async (w) => {
  await startWith(w, { botToken: w.ada.botToken });
  const { team, app } = await add(w, "Beta");
  await waitUntil(() => w.slack.sockets(w.ada) > 0, "a socket");
  const gina = w.slack.addPerson("Gina", { team });
  const twin = w.slack.addChannel("general", [app, gina], { team, id: w.general.id });
  w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} from one`);
  w.slack.say(gina, twin, `${w.slack.mention(app)} from two`);
  const [one, two] = [await w.message("from one"), await w.message("from two")];
  expect([one.conversation.workspaceId, two.conversation.workspaceId]).toEqual([w.slack.team.id, team.id]);
  expect(one.conversation.channelId).toBe(two.conversation.channelId);
  expect(conversationKey(one.conversation)).not.toBe(conversationKey(two.conversation));
  expect(one.installationId).toBe(w.installation(w.ada));
  await deliver(w, bubble("e1", { type: "text", content: "to two", images: [] }), placeOf(w, app, two));
  expect(w.slack.posts(twin).map((post) => post.text)).toEqual(["to two"]);
  expect(w.slack.posts(w.general)).toEqual([]);
  expect(w.slack.calls("chat.postMessage").map((request) => request.token)).toEqual([app.botToken]);
});

scene("an organisation-wide installation serves its workspaces under the organisation", async (w) => {
  await startWith(w);
  const enterprise = w.slack.addTeam("Org", "E");
  const { team, app, status } = await add(w, "Gamma", { enterprise });
  expect(status).toBe(200);
  const gina = w.slack.addPerson("Gina", { team });
  const channel = w.slack.addChannel("org", [app, gina], { team });
  await waitUntil(() => w.slack.sockets(w.ada) > 0, "a socket");
  w.slack.say(gina, channel, `${w.slack.mention(app)} from the org`);
  expect(await w.message("from the org")).toMatchObject({ conversation: { workspaceId: enterprise.id } });
  expect(w.slack.refusals).toEqual([]);
});

scene("tokens are kept sealed only; a restart signs in to every workspace again", async (w) => {
  await startWith(w);
  const { team, app } = await add(w, "Beta");
  expect([...w.credentials.values()].map((value) => value.reveal())).toEqual([app.botToken]);
  expect(JSON.stringify([await w.context.kv.list({ prefix: "", limit: 100 }), w.logs])).not.toContain(app.botToken);
  const again = await w.restarted();
  const { appToken, clientId, clientSecret } = w.ada;
  const settings = { appToken, clientId, clientSecret };
  await again.start({ botId: "ada", name: "Ada", role: "Tester", settings }, w.context);
  expect(again.health()).toMatchObject([{ state: "connected" }]);
  const gina = w.slack.addPerson("Gina", { team });
  w.slack.dm(gina, app, "after the restart");
  await w.message("after the restart");
});

scene("a state is good once, for ten minutes, and only if we made it", async (w) => {
  await startWith(w);
  const team = w.slack.addTeam("Beta");
  const location = await begin(w);
  const first = w.slack.consent(location, team);
  const second = w.slack.consent(location, team);
  expect((await call(w, first.href)).status).toBe(200);
  expect((await call(w, second.href)).status).toBe(400);
  const forged = w.slack.consent(await begin(w), team);
  forged.searchParams.set("state", (forged.searchParams.get("state") ?? "").replace(/\.\d+\./, ".9999999999999."));
  expect((await call(w, forged.href)).status).toBe(400);
  const late = w.slack.consent(await begin(w), team);
  w.later(11 * 60_000);
  expect((await call(w, late.href)).status).toBe(400);
  expect(w.credentials.size).toBe(1);
});

scene("refused consents, wrong codes and rotating tokens are said in words without any secret", async (w) => {
  await startWith(w);
  const state = new URL(await begin(w)).searchParams.get("state") ?? "";
  const declined = await call(w, `/slack/ada/oauth?error=access_denied&state=${state}`);
  expect([declined.status, await declined.text()]).toEqual([400, expect.stringContaining("declined")]);
  const wrong = await call(w, `/slack/ada/oauth?code=nonsense&state=${state}`);
  expect([wrong.status, await wrong.text()]).toEqual([502, expect.stringContaining("invalid_code")]);
  Object.assign(w.ada, { rotates: true });
  const rotating = await call(w, w.slack.consent(await begin(w), w.slack.addTeam("Rota")).href);
  expect([rotating.status, await rotating.text()]).toEqual([502, expect.stringContaining("rotation")]);
  expect(w.credentials.size).toBe(0);
  const unknown = await call(w, "/slack/nobody/install");
  expect(unknown.status).toBe(404);
  expect(JSON.stringify(w.logs)).not.toContain(w.ada.clientSecret);
});

scene("removing the app in one workspace ends only that installation", async (w) => {
  await startWith(w, { botToken: w.ada.botToken });
  const { app, team } = await add(w, "Beta");
  await waitUntil(() => w.slack.sockets(w.ada) > 0, "a socket");
  w.slack.sendEvent(app, { type: "app_uninstalled" });
  await waitUntil(() => w.credentials.size === 0, "a forgotten token");
  expect(w.adapter.health()).toMatchObject([{ state: "connected", remedy: expect.stringContaining("Beta") }]);
  w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} still here`);
  await w.message("still here");
  const place = w.placeIn({ kind: "direct", channelId: "D1", workspaceId: team.id }, app);
  w.slack.revoke(app);
  await expect(deliver(w, bubble("e", { type: "text", content: "x", images: [] }), place)).rejects.toMatchObject({
    problem: "bot",
  });
  expect(w.adapter.health()).toMatchObject([{ state: "connected" }]);
});

scene("a person's own revoked token is nothing to the bot", async (w) => {
  await startWith(w, { botToken: w.ada.botToken });
  await waitUntil(() => w.adapter.health()[0]?.state === "connected", "a connection");
  w.slack.sendEvent(w.ada, { type: "tokens_revoked", tokens: { oauth: [w.alice.id], bot: [] } });
  await w.slack.settle(100);
  expect(w.adapter.health()).toMatchObject([{ state: "connected" }]);
  w.slack.revokeTokens(w.ada);
  await waitUntil(() => w.adapter.health()[0]?.state === "failed", "a stopped bot");
});

scene("a payload of a workspace the bot is not installed in is given to nobody", async (w) => {
  await startWith(w, { botToken: w.ada.botToken });
  await waitUntil(() => w.slack.sockets(w.ada) > 0, "a socket");
  const stranger = w.slack.installIn(w.ada, w.slack.addTeam("Nowhere"));
  w.slack.sendEvent(stranger, {
    type: "message",
    channel: w.general.id,
    user: w.alice.id,
    ts: "1700000000.000100",
    text: "who am I",
  });
  await waitUntil(() => w.metrics.includes("parley_slack_unknown_workspace_total"), "a count");
  await w.slack.settle(100);
  expect(w.received).toEqual([]);
});

scene("a workspace that one process was added to is served by another that runs beside it", async (w) => {
  const { appToken, clientId, clientSecret } = w.ada;
  await startWith(w);
  const other = createSlackAdapter({ apiUrl: w.slack.apiUrl });
  const account = { botId: "ada", name: "Ada", role: "Tester", intake: false };
  await other.start({ ...account, settings: { appToken, clientId, clientSecret } }, w.context);
  try {
    const { team, app } = await add(w, "Beta");
    const gina = w.slack.addPerson("Gina", { team });
    const channel = w.slack.addChannel("beta", [app, gina], { team });
    const place = w.placeIn({ kind: "channel", channelId: channel.id }, app);
    const say = () =>
      deliver({ ...w, adapter: other }, bubble("e1", { type: "text", content: "from beside", images: [] }), place);
    // What is to be sent waits for the look at what was added, and is tried again as the outbox does.
    await expect(say()).rejects.toMatchObject({ problem: "wait" });
    await waitUntil(
      async () =>
        await say().then(
          () => true,
          () => false,
        ),
      "the other one to speak",
    );
    expect(w.slack.posts(channel).map((post) => post.text)).toEqual(["from beside"]);
  } finally {
    await other.stop();
  }
});
