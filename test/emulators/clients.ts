/**
 * The real Slack clients, pointed at an emulated workspace; shared by the emulator's own tests.
 */
import { App as BoltApp, LogLevel } from "@slack/bolt";
import { WebClient } from "@slack/web-api";
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
