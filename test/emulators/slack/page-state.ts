/**
 * What the page at `/` shows, as JSON: who is there, the places a person is in, messages taken apart into simple
 * parts, private notices, the open modal.
 * Invariant: only reads; a person gets nothing they could not see in Slack.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText } from "../loopback.ts";
import type { Control } from "./block-text.ts";
import { controlsOf, readableElement } from "./block-text.ts";
import { toModal, topView } from "./controls.ts";
import type { App, Channel, User } from "./model.ts";
import { dmChannel } from "./people.ts";
import type { Post } from "./posts.ts";
import { readTimeline } from "./posts.ts";
import { currentStatus } from "./statuses.ts";
import type { Workspace } from "./workspace.ts";

/** Everything a person sees now; without a person only who is there. */
export function describePage(workspace: Workspace, person: User | undefined): Fields {
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
