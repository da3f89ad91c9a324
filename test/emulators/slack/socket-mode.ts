/**
 * Socket Mode: connections opened with a ticket, hello, pings, acknowledgements, and the ways Slack ends a connection.
 * Invariant: at most ten sockets per app; a ticket opens one socket within 30 s. What travels over a socket is decided
 * by `deliveries.ts` and `interactions.ts`.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import type { Fields } from "../loopback.ts";
import { asFields, asText, isFields } from "../loopback.ts";
import { acknowledgeEnvelope, flushBacklog, lineOf, releaseLink } from "./deliveries.ts";
import type { Link } from "./line.ts";
import type { App } from "./model.ts";
import type { Workspace } from "./workspace.ts";
import { later, newId } from "./workspace.ts";

/** Why Slack ends a connection. */
export type DisconnectReason = "warning" | "refresh_requested" | "link_disabled" | "too_many_websockets";

const TICKET_MS = 30_000;
const MAX_LINKS = 10;

/** Makes the address `apps.connections.open` answers with. */
export function newSocketUrl(workspace: Workspace, app: App): string {
  const ticket = newId("", 24);
  workspace.tickets.set(ticket, { app, at: Date.now() });
  return `${workspace.base.replace("http", "ws")}/link/?ticket=${ticket}&app_id=${app.appId}`;
}

/** Handles an upgrade request; a bad ticket or a refused app gets HTTP 401. */
export function createSocketServer(
  workspace: Workspace,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const server = new WebSocketServer({ noServer: true });
  return (request, socket, head) => {
    const ticket = new URL(request.url ?? "/", "http://127.0.0.1").searchParams.get("ticket") ?? "";
    const known = workspace.tickets.get(ticket);
    workspace.tickets.delete(ticket);
    if (!known || Date.now() - known.at > TICKET_MS || workspace.refusedUpgrades.has(known.app)) {
      socket.end("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n");
      return;
    }
    server.handleUpgrade(request, socket, head, (webSocket) => openLink(workspace, known.app, webSocket));
  };
}

function openLink(workspace: Workspace, app: App, socket: WebSocket): void {
  const line = lineOf(workspace, app);
  if (line.links.length >= MAX_LINKS) {
    sendDisconnect(socket, "too_many_websockets");
    socket.close();
    return;
  }
  const link: Link = { socket, waiting: new Map(), silent: false };
  line.links.push(link);
  line.opened += 1;
  socket.on("message", (data) => receive(workspace, app, link, String(data)));
  // A broken connection also emits "close", which does the clean-up.
  socket.on("error", () => undefined);
  socket.on("close", () => closeLink(workspace, app, link));
  socket.send(
    JSON.stringify({
      type: "hello",
      num_connections: line.links.length,
      connection_info: { app_id: app.appId },
      debug_info: { host: "applink-emulated", build_number: 1, approximate_connection_time: 18_060 },
    }),
  );
  flushBacklog(workspace, app);
}

function closeLink(workspace: Workspace, app: App, link: Link): void {
  const { links } = lineOf(workspace, app);
  const at = links.indexOf(link);
  if (at >= 0) links.splice(at, 1);
  for (const answer of link.waiting.values()) answer(null);
  link.waiting.clear();
  if (!workspace.closed) releaseLink(workspace, app, link);
}

function receive(workspace: Workspace, app: App, link: Link, data: string): void {
  const message = readJson(data);
  const envelopeId = asText(message.envelope_id);
  if (envelopeId === "") {
    refuseFrame(workspace, app, data);
    return;
  }
  const waiting = link.waiting.get(envelopeId);
  if (!waiting) {
    acknowledgeEnvelope(workspace, app, envelopeId);
    return;
  }
  link.waiting.delete(envelopeId);
  waiting(isFields(message.payload) ? message.payload : {});
}

function refuseFrame(workspace: Workspace, app: App, data: string): void {
  const messages = ["a frame must be JSON with envelope_id"];
  workspace.refusals.push({ method: "socket", error: "invalid_frame", messages, args: { data }, app, at: Date.now() });
}

function readJson(data: string): Fields {
  try {
    return asFields(JSON.parse(data));
  } catch {
    // Not JSON: the caller records it as a refused frame.
    return {};
  }
}

function sendDisconnect(socket: WebSocket, reason: DisconnectReason): void {
  socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "applink-emulated" } }));
}

/** Announces the end of an app's sockets and closes those after `closeAfterMs`. New ones are not touched. */
export function disconnectApp(workspace: Workspace, app: App, reason: DisconnectReason, closeAfterMs: number): void {
  for (const link of [...lineOf(workspace, app).links]) {
    sendDisconnect(link.socket, reason);
    later(workspace, closeAfterMs, () => link.socket.close());
  }
}

/** Cuts an app's sockets without a word, as a broken network does. Returns how many. */
export function cutApp(workspace: Workspace, app: App): number {
  const links = [...lineOf(workspace, app).links];
  for (const link of links) link.socket.terminate();
  return links.length;
}

/** Pings every socket, as Slack does all the time. */
export function pingAll(workspace: Workspace): void {
  for (const line of workspace.lines.values())
    for (const link of line.links) link.socket.ping(`Ping from emulator ${Date.now()}`);
}
