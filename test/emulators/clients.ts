/**
 * The real Slack clients, pointed at an emulated workspace; shared by the emulator's own tests.
 * Nothing here knows the product.
 */
import { App as BoltApp, LogLevel } from "@slack/bolt";
import { WebClient } from "@slack/web-api";
import { WebSocket } from "ws";
import type { App, Slack } from "./slack/index.ts";

/** A Web API client of an app that never repeats a request by itself. */
export function webClient(slack: Slack, app: App): WebClient {
  return new WebClient(app.botToken, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    logLevel: LogLevel.ERROR,
  });
}

/** Bolt in Socket Mode, connected. */
export async function connectBolt(slack: Slack, app: App): Promise<BoltApp> {
  const client = new BoltApp({
    token: app.botToken,
    appToken: app.appToken,
    socketMode: true,
    logLevel: LogLevel.ERROR,
    clientOptions: { slackApiUrl: slack.apiUrl },
  });
  await client.start();
  await slack.waitForSocket(app);
  return client;
}

/** Stops clients and waits until their sockets are gone (Bolt returns before that). */
export async function stopBolt(slack: Slack, clients: readonly BoltApp[]): Promise<void> {
  await Promise.all(clients.map((client) => client.stop()));
  await slack.waitUntil(() => slack.workspace.apps.every((app) => slack.sockets(app) === 0), "closed sockets");
}

/** A bare Socket Mode connection that acknowledges everything; `events` lists the types of what it heard. */
export interface BareSocket {
  readonly socket: WebSocket;
  readonly frames: readonly Record<string, unknown>[];
  readonly events: readonly string[];
}

/** Opens a bare connection; rejects when it is refused. */
export async function openSocket(slack: Slack, app: App): Promise<BareSocket> {
  const opened = await new WebClient(app.appToken, { slackApiUrl: slack.apiUrl }).apps.connections.open({});
  const socket = new WebSocket(opened.url ?? "");
  const frames: Record<string, unknown>[] = [];
  const events: string[] = [];
  socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as { envelope_id?: string; payload?: { event?: { type: string } } };
    frames.push(frame);
    if (frame.payload?.event) events.push(frame.payload.event.type);
    if (frame.envelope_id) socket.send(JSON.stringify({ envelope_id: frame.envelope_id }));
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return { socket, frames, events };
}
