/**
 * A page at `/` where a developer is a person of the emulated workspace: channels, threads, direct messages, buttons,
 * choices and modals. Used by the emulated development mode.
 * Invariant: the page only does what the test API does (`people.ts`, `controls.ts`); it keeps no state of its own. The
 * files in `page/` draw it; requests that change something must be JSON, so that no foreign site can make them.
 */
import { readFile } from "node:fs/promises";
import type { Arrived, Fields } from "../loopback.ts";
import { asFields, asList, asText, sendJson, sendText } from "../loopback.ts";
import type { Control } from "./block-text.ts";
import { controlsOf, readableElement } from "./block-text.ts";
import { closeModal, press, submit, toModal, topView } from "./controls.ts";
import { addPerson } from "./directory.ts";
import type { App, Channel, User } from "./model.ts";
import { dmChannel, erase, pressStop, say } from "./people.ts";
import type { Post } from "./posts.ts";
import { readTimeline } from "./posts.ts";
import { currentStatus } from "./statuses.ts";
import type { Workspace } from "./workspace.ts";

const FILES: Readonly<Record<string, readonly [string, string]>> = {
  "/": ["page.html", "text/html"],
  "/page.css": ["page.css", "text/css"],
  "/page.js": ["page.js", "text/javascript"],
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
    sendJson(response, 200, describe(workspace, workspace.users.get(url.searchParams.get("person") ?? "")));
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

function describe(workspace: Workspace, person: User | undefined): Fields {
  const people = [...workspace.users.values()].filter((user) => !user.isBot).map(({ id, name }) => ({ id, name }));
  const base = {
    team: workspace.team.name,
    people,
    apps: workspace.apps.map((app) => ({ id: app.appId, name: app.name, online: isOnline(workspace, app) })),
  };
  if (!person) return { ...base, places: [], notices: [], modal: null };
  const view = topView(workspace, person);
  const notices = workspace.ephemerals
    .filter((notice) => notice.person === person)
    .map((notice) => ({
      place: placeId(workspace, notice.channel),
      thread: notice.threadTs,
      app: notice.app.name,
      text: nameMentions(workspace, notice.text),
      at: notice.at,
    }));
  return { ...base, places: placesOf(workspace, person), notices, modal: view ? describeModal(view) : null };
}

function isOnline(workspace: Workspace, app: App): boolean {
  return app.mode === "http" || (workspace.lines.get(app)?.links.length ?? 0) > 0;
}

function placeId(workspace: Workspace, channel: Channel): string {
  const app =
    channel.kind === "im" ? workspace.apps.find((candidate) => channel.members.has(candidate.userId)) : undefined;
  return app?.appId ?? channel.id;
}

function placesOf(workspace: Workspace, person: User): Fields[] {
  const channels = [...workspace.channels.values()].filter(
    (channel) => channel.kind !== "im" && channel.members.has(person.id),
  );
  const rooms = channels.map((channel) => describePlace(workspace, channel, channel.id, `#${channel.name}`));
  const direct = workspace.apps.map((app) =>
    describePlace(workspace, dmChannel(workspace, person, app), app.appId, app.name),
  );
  return [...rooms, ...direct];
}

function describePlace(workspace: Workspace, channel: Channel, id: string, name: string): Fields {
  const messages = readTimeline(workspace, channel).map((post) => describePost(workspace, post));
  const working = workspace.apps.flatMap((app) =>
    [
      ...new Set(
        workspace.statuses.filter((line) => line.app === app && line.channel === channel).map((line) => line.threadTs),
      ),
    ].flatMap((thread) => {
      const status = currentStatus(workspace, app, channel, thread);
      return status === "" ? [] : [{ app: app.name, thread, status }];
    }),
  );
  return { id, name, kind: channel.kind, messages, working };
}

function describePost(workspace: Workspace, post: Post): Fields {
  let seen = 0;
  const parts = (post.blocks.length > 0 ? post.blocks : [{ type: "markdown", text: post.text }]).map((block) => {
    const controls = controlsOf([block]).map((control) => describeControl(control, seen++));
    return describeBlock(workspace, block, controls);
  });
  const files = post.files.map(({ id, name, title, alt, type }) => ({
    id,
    name,
    title,
    alt,
    image: type.startsWith("image/"),
  }));
  const { ts, author, edited } = post;
  const reactions = post.reactions.map(({ name, users }) => ({ name, count: users.length }));
  return {
    ts,
    thread: post.threadTs,
    author,
    bot: post.app !== null,
    edited,
    parts,
    files,
    reactions,
    pings: post.mentions.length,
  };
}

function describeControl(control: Control, index: number): Fields {
  const options = control.options.map((option) => ({ label: option.label, value: option.value }));
  const { type, label, style, url } = control;
  return { index, type, label, style, url, options };
}

function describeBlock(workspace: Workspace, block: Fields, controls: Fields[]): Fields {
  switch (block.type) {
    case "divider":
      return { kind: "divider" };
    case "image":
      return { kind: "image", url: block.image_url ?? null, text: asText(block.alt_text) };
    case "table":
    case "data_table":
      return { kind: "table", rows: asList(block.rows).map((row) => asList(row).map((cell) => readableElement(cell))) };
    case "card":
      return {
        kind: "card",
        lines: [block.title, block.subtitle, block.body]
          .filter(Boolean)
          .map((part) => nameMentions(workspace, readableElement(part))),
        controls,
      };
    case "actions":
      return { kind: "controls", controls };
    default: {
      const texts = [block.text ?? (block.type === "section" ? undefined : block), ...asList(block.fields)].filter(
        (part) => part !== undefined,
      );
      const text = texts
        .map((part) =>
          typeof part === "string" ? readableElement({ type: "markdown", text: part }) : readableElement(part),
        )
        .join("\n");
      return { kind: asText(block.type), text: nameMentions(workspace, text), controls };
    }
  }
}

function nameMentions(workspace: Workspace, text: string): string {
  const named = text.replace(
    /<@([UW][A-Z0-9]+)(?:\|[^>]*)?>/g,
    (_all, id: string) => `@${workspace.users.get(id)?.name ?? id}`,
  );
  return named.replace(/<!(channel|here|everyone)(?:\|[^>]*)?>/g, "@$1");
}

function describeModal(view: Parameters<typeof toModal>[0]): Fields {
  const modal = toModal(view);
  const inputs = modal.inputs.map((input, index) => ({
    ...describeControl(input, index),
    optional: input.optional,
    multiline: input.element.multiline === true,
    value: asText(input.element.initial_value),
  }));
  const texts = asList(view.body.blocks)
    .map(asFields)
    .filter((block) => block.type !== "input")
    .map((block) => readableElement(block));
  return {
    id: modal.id,
    hash: view.hash,
    title: modal.title,
    app: modal.app.name,
    texts,
    inputs,
    submit: readableElement(view.body.submit),
  };
}
