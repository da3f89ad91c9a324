/**
 * The gateway: hello, heartbeats, IDENTIFY, RESUME, and the close codes of protocol errors.
 * Invariant: a session belongs to one connection at a time; closing with 1000 or 1001 ends it, any other loss keeps it
 * for `timing.resumeMs`. What is said in sessions is left to the other files.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { constants, createDeflate, type Deflate } from "node:zlib";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import type { Fields } from "../loopback.ts";
import { asFields, asText, isFields } from "../loopback.ts";
import { identify, resume } from "./identify.ts";
import { answerMemberRequest } from "./member-chunks.ts";
import type { Bot } from "./model.ts";
import type { Closing, Link } from "./sessions.ts";
import { closeLink, sendFrame } from "./sessions.ts";
import type { World } from "./world.ts";
import { later } from "./world.ts";

const MAX_FRAME_BYTES = 4096;
const MAX_SENDS = 120;
const SEND_WINDOW_MS = 60_000;

/** Serves the upgrades of one world. */
export function createGatewayServer(world: World) {
  const server = new WebSocketServer({ noServer: true });
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const [, path = "", id = ""] = url.pathname.split("/");
    const address = path === "resume" ? "resume" : "gateway";
    const bot = world.bots.find((candidate) => candidate.applicationId === id) ?? null;
    const status = path === "gateway" || path === "resume" ? refusedUpgrade(world, bot, address) : 404;
    if (status !== null) {
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    server.handleUpgrade(request, socket, head, (opened) => welcome(world, opened, address, url.searchParams));
  };
}

function refusedUpgrade(world: World, bot: Bot | null, address: "gateway" | "resume"): number | null {
  const rule = world.gatewayRefusals.upgrades.find(
    (candidate) =>
      candidate.left > 0 &&
      (candidate.bot === null || candidate.bot === bot) &&
      (candidate.address === "both" || candidate.address === address),
  );
  if (!rule) return null;
  rule.left -= 1;
  return rule.status;
}

function welcome(world: World, socket: WebSocket, address: "gateway" | "resume", query: URLSearchParams): void {
  const link: Link = {
    socket,
    address,
    openedAt: Date.now(),
    deflate: query.get("compress") === "zlib-stream" ? deflateTo(socket) : null,
    sentAt: [],
    bot: null,
    session: null,
    identifies: 0,
    resumes: 0,
    heartbeats: 0,
    lastHeartbeatAt: Date.now(),
    silent: false,
    mute: false,
    closeCode: null,
  };
  world.links.push(link);
  socket.on("message", (data) => receive(world, link, data as Buffer));
  socket.on("close", (code) => lose(link, code));
  // A broken connection ends with "close", which does the work.
  socket.on("error", () => undefined);
  const problem = addressProblem(query);
  if (problem) {
    closeLink(link, ...problem);
    return;
  }
  sendFrame(link, { op: 10, s: null, t: null, d: { heartbeat_interval: world.timing.heartbeatMs, _trace: [] } });
  watchHeartbeat(world, link);
}

function addressProblem(query: URLSearchParams): Closing | null {
  if (query.get("v") !== "10" && query.get("v") !== "9") return [4012, "Invalid API version"];
  return query.get("encoding") === "json" ? null : [4002, "Error while decoding payload."];
}

/** One deflate context per connection; each frame ends with a sync flush, as in `zlib-stream`. */
function deflateTo(socket: WebSocket): Deflate {
  const deflate = createDeflate({ flush: constants.Z_SYNC_FLUSH });
  deflate.on("data", (part: Buffer) => {
    if (socket.readyState === socket.OPEN) socket.send(part);
  });
  return deflate;
}

/** Closes a connection whose client stopped beating (4009), as Discord does after about two missed ones. */
function watchHeartbeat(world: World, link: Link): void {
  later(world, world.timing.heartbeatMs, () => {
    if (link.closeCode !== null) return;
    const late = Date.now() - link.lastHeartbeatAt > world.timing.heartbeatMs * 2;
    if (late && !link.silent) closeLink(link, 4009, "Session timed out.");
    else watchHeartbeat(world, link);
  });
}

function lose(link: Link, code: number): void {
  link.closeCode ??= code;
  link.deflate?.close();
  const session = link.session;
  if (!session || session.link !== link) return;
  session.link = null;
  session.lostAt = Date.now();
  if (code === 1000 || code === 1001) session.ended = true;
}

function receive(world: World, link: Link, data: Buffer): void {
  if (link.silent) return;
  const now = Date.now();
  link.sentAt.push(now);
  while ((link.sentAt[0] ?? now) < now - SEND_WINDOW_MS) link.sentAt.shift();
  const closing = handle(world, link, data.length <= MAX_FRAME_BYTES ? parse(data) : null);
  if (closing) closeLink(link, ...closing);
}

function parse(data: Buffer): Fields | null {
  try {
    const frame: unknown = JSON.parse(data.toString("utf8"));
    return isFields(frame) ? frame : null;
  } catch {
    // Not JSON: the caller closes with 4002.
    return null;
  }
}

/** Acts on a frame; gives a reason to close the connection, or null. */
function handle(world: World, link: Link, frame: Fields | null): Closing | null {
  if (link.sentAt.length > MAX_SENDS) return [4008, "You are being rate limited."];
  if (!frame) return [4002, "Error while decoding payload."];
  const body = asFields(frame.d);
  if (frame.op === 1) return beat(link);
  if (frame.op === 2) return identify(world, link, body);
  if (frame.op === 6) return resume(world, link, body);
  if (!link.session) return [4003, "Not authenticated."];
  switch (frame.op) {
    case 3:
      return asText(body.status) === "" ? [4002, "Error while decoding payload."] : null;
    case 4:
      return null;
    case 8:
      answerMemberRequest(world, link.session, body);
      return null;
    default:
      return [4001, "Unknown opcode."];
  }
}

function beat(link: Link): null {
  link.heartbeats += 1;
  link.lastHeartbeatAt = Date.now();
  if (!link.mute) sendFrame(link, { op: 11, s: null, t: null, d: null });
  return null;
}
