/**
 * A page at `/` where a developer is a person of the emulated workspace: channels, threads, direct messages, buttons,
 * choices and modals. Used by the emulated development mode.
 * Invariant: the page only does what the test API does (`people.ts`, `controls.ts`); it keeps no state of its own. The
 * files in `page/` draw it; requests that change something must be JSON, so that no foreign site can make them.
 */
import { readFile } from "node:fs/promises";
import type { Arrived, Fields } from "../loopback.ts";
import { asFields, asList, asText, sendJson, sendText } from "../loopback.ts";
import { closeModal, press, submit } from "./controls.ts";
import { addPerson } from "./directory.ts";
import type { Channel, User } from "./model.ts";
import { describePage } from "./page-state.ts";
import { dmChannel, erase, pressStop, say } from "./people.ts";
import type { Workspace } from "./workspace.ts";

const FILES: Readonly<Record<string, readonly [string, string]>> = {
  "/": ["page.html", "text/html"],
  "/page.css": ["page.css", "text/css"],
  "/page.js": ["page.js", "text/javascript"],
  "/parts.js": ["parts.js", "text/javascript"],
};

/** Answers a request of the page; false when the address is none of its own. */
export async function servePage(workspace: Workspace, arrived: Arrived): Promise<boolean> {
  const { url, request, response } = arrived;
  const file = FILES[url.pathname];
  if (file && request.method === "GET") {
    const text = await readFile(new URL(`./page/${file[0]}`, import.meta.url), "utf8");
    sendText(response, 200, text, file[1]);
    return true;
  }
  if (url.pathname === "/page/state") {
    sendJson(response, 200, describePage(workspace, workspace.users.get(url.searchParams.get("person") ?? "")));
    return true;
  }
  if (url.pathname === "/page/file") {
    sendFile(workspace, arrived);
    return true;
  }
  if (url.pathname !== "/page/act" || request.method !== "POST") return false;
  await serveAct(workspace, arrived);
  return true;
}

function sendFile(workspace: Workspace, { url, response }: Arrived): void {
  const file = workspace.files.get(url.searchParams.get("id") ?? "");
  if (!file?.bytes) {
    sendText(response, 404, "no such file");
    return;
  }
  const image = /^image\/(png|jpeg|gif|webp)$/.test(asText(file.body.mimetype));
  const disposition = image ? {} : { "content-disposition": "attachment" };
  response.writeHead(200, {
    "content-type": image ? asText(file.body.mimetype) : "application/octet-stream",
    ...disposition,
  });
  response.end(file.bytes);
}

async function serveAct(workspace: Workspace, { headers, body, response }: Arrived): Promise<void> {
  if (!headers["content-type"]?.startsWith("application/json")) {
    sendJson(response, 415, { problem: "send JSON" });
    return;
  }
  try {
    sendJson(response, 200, (await act(workspace, asFields(JSON.parse(body.toString("utf8"))))) ?? {});
  } catch (error) {
    sendJson(response, 400, { problem: error instanceof Error ? error.message : String(error) });
  }
}

/** Does one thing for a person; a text is a problem to show to them. */
async function act(workspace: Workspace, order: Fields): Promise<Fields | undefined> {
  if (order.act === "join") return join(workspace, asText(order.name));
  const person = workspace.users.get(asText(order.person));
  if (!person || person.isBot) throw new Error("choose who you are first");
  if (order.act === "submit") return submitModal(workspace, person, asFields(order.values));
  if (order.act === "close") return closeModal(workspace, person).then(() => ({}));
  const channel = findPlace(workspace, person, asText(order.place));
  const place = { channel, ts: asText(order.ts) };
  switch (order.act) {
    case "say":
      say(
        workspace,
        person,
        channel,
        withMentions(workspace, asText(order.text)),
        order.thread ? { thread: asText(order.thread) } : {},
      );
      return {};
    case "press":
      return pressed(
        await press(workspace, person, place, Number(order.index), { choose: asList(order.choose).map(String) }),
      );
    case "stop":
      for (const app of workspace.apps) if (channel.members.has(app.userId)) pressStop(workspace, person, app, place);
      return {};
    case "erase":
      erase(workspace, place);
      return {};
    default:
      throw new Error(`unknown act ${asText(order.act)}`);
  }
}

function pressed(result: { acknowledged: boolean }): Fields {
  return result.acknowledged ? {} : { problem: "The app did not respond." };
}

function join(workspace: Workspace, name: string): Fields {
  if (name.trim() === "") throw new Error("a name is needed");
  const person = addPerson(workspace, name.trim());
  for (const channel of workspace.channels.values()) if (channel.kind === "channel") channel.members.add(person.id);
  return { id: person.id };
}

async function submitModal(workspace: Workspace, person: User, values: Fields): Promise<Fields> {
  const texts = Object.fromEntries(
    Object.entries(values).map(([label, value]) => [label, Array.isArray(value) ? value.map(String) : String(value)]),
  );
  const result = await submit(workspace, person, texts);
  if (!result.acknowledged) return { problem: "The app did not respond." };
  return result.errors ? { problem: Object.values(result.errors).join(" ") } : {};
}

/** A channel's id, or an app's id for the direct messages with it. */
function findPlace(workspace: Workspace, person: User, id: string): Channel {
  const app = workspace.apps.find((candidate) => candidate.appId === id);
  if (app) return dmChannel(workspace, person, app);
  const channel = workspace.channels.get(id);
  if (!channel?.members.has(person.id)) throw new Error("you are not in that channel");
  return channel;
}

/** Turns "@Ada" into a mention, as Slack's composer does. */
function withMentions(workspace: Workspace, text: string): string {
  const names = [...workspace.users.values()].sort((a, b) => b.name.length - a.name.length);
  const broadcast = text.replace(/@(channel|here|everyone)\b/g, "<!$1>");
  return names.reduce((result, user) => result.replaceAll(`@${user.name}`, `<@${user.id}>`), broadcast);
}
