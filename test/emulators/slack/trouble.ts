/**
 * Everything a test uses to make life hard for the product: faults of the Web API, disturbed deliveries, broken
 * connections, revoked tokens, forged requests, and raw events.
 */
import type { Fields } from "../loopback.ts";
import { deliverBody, deliverEvent, lineOf } from "./deliveries.ts";
import type { Disturbance, Fault, Rule } from "./faults.ts";
import { faultRule } from "./faults.ts";
import { signatureHeaders } from "./http-delivery.ts";
import type { DeliveryRecord } from "./line.ts";
import type { App, SlackRequest } from "./model.ts";
import type { DisconnectReason } from "./socket-mode.ts";
import { cutApp, disconnectApp } from "./socket-mode.ts";
import type { Workspace } from "./workspace.ts";

/** Slack closes a socket this long after announcing it. */
const CLOSE_AFTER_MS: Readonly<Record<DisconnectReason, number>> = {
  warning: 2000,
  refresh_requested: 300,
  link_disabled: 50,
  too_many_websockets: 50,
};

/** The troublesome part of a workspace's API. */
export type Trouble = ReturnType<typeof createTrouble>;

/** Builds it. */
export function createTrouble(workspace: Workspace) {
  return { ...createFaults(workspace), ...createConnectionTrouble(workspace), ...createRawEvents(workspace) };
}

function createFaults(workspace: Workspace) {
  return {
    /**
     * Hits the next `times` (1) requests of a method (`*` = any; also `upload`, `download`, `response_url`).
     * See `Fault`: rateLimit, status, error, hang, reset, acceptThen, delayMs.
     */
    fail: (method: string, fault: Fault, rule?: Rule & { when?: (request: SlackRequest) => boolean }): void => {
      workspace.faults.push(faultRule(method, fault, rule));
    },
    /** Hits the next `times` (1) events sent to an app. See `Disturbance`: duplicate, drop, delayMs, ignoreAck. */
    disturb: (disturbance: Disturbance, rule: Rule = {}): void => {
      workspace.disturbances.push({ disturbance, app: rule.app ?? null, left: rule.times ?? 1 });
    },
    /** Forgets all faults and disturbances. */
    calm: (): void => {
      workspace.faults.length = 0;
      workspace.disturbances.length = 0;
    },
    /** The next `count` completed uploads answer ok, but nothing ever appears. */
    loseShares: (count: number): void => {
      workspace.lostShares += count;
    },
    /** Every call with the app's tokens is refused from now on (null = well again). */
    revoke: (app: App, code: string | null = "token_revoked"): void => {
      app.revoked = code;
    },
  };
}

function createConnectionTrouble(workspace: Workspace) {
  const appsOf = (app: App | undefined) => (app ? [app] : workspace.apps);
  return {
    /** Announces the end of the open sockets and closes them a little later; without `app`, of all apps. */
    disconnect: (
      app?: App,
      reason: DisconnectReason = "refresh_requested",
      closeAfterMs = CLOSE_AFTER_MS[reason],
    ): void => {
      for (const each of appsOf(app)) disconnectApp(workspace, each, reason, closeAfterMs);
    },
    /** Breaks the open sockets without a word. Returns how many. */
    cut: (app?: App): number => appsOf(app).reduce((sum, each) => sum + cutApp(workspace, each), 0),
    /** The open sockets stay open and answer pings, but get nothing any more; sockets opened later do. */
    silence: (app: App): void => {
      for (const link of lineOf(workspace, app).links) link.silent = true;
    },
    /** Refuses new sockets with HTTP 401 although `apps.connections.open` answers ok. */
    refuseSockets: (app: App, refused: boolean): void => {
      if (refused) workspace.refusedUpgrades.add(app);
      else workspace.refusedUpgrades.delete(app);
    },
    /** How many sockets the app has opened since the start. */
    socketsOpened: (app: App): number => lineOf(workspace, app).opened,
  };
}

function createRawEvents(workspace: Workspace) {
  return {
    /** Sends any inner event to an app, past its subscriptions. Returns the outer body. */
    sendEvent: (app: App, event: Fields): Fields => deliverEvent(workspace, app, event),
    /** Sends any outer body to an app. */
    sendBody: (app: App, body: Fields): DeliveryRecord => deliverBody(workspace, app, body),
    /** Sends an event again as a retry, with its old event id; for example after a restart. */
    redeliver: (record: DeliveryRecord, attempt = 1, reason = "timeout"): DeliveryRecord =>
      deliverBody(workspace, record.app, record.body, { attempt, reason }),
    /** Tells an app that its events are limited: a body without an inner event. */
    sendRateLimited: (app: App): DeliveryRecord =>
      deliverBody(workspace, app, {
        token: "verification-token",
        type: "app_rate_limited",
        team_id: app.team.id,
        minute_rate_limited: Math.floor(Date.now() / 60_000) * 60,
        api_app_id: app.appId,
      }),
    /** Revokes the bot's token and says so. */
    revokeTokens: (app: App): void => {
      deliverEvent(workspace, app, { type: "tokens_revoked", tokens: { oauth: [], bot: [app.userId] } });
      app.revoked = "token_revoked";
    },
    /** Checks the app's request URL the way Slack does when it is entered. True when the challenge came back. */
    verifyUrl: async (app: App): Promise<boolean> => {
      const challenge = crypto.randomUUID();
      const reply = await postAs(
        app,
        JSON.stringify({ token: "verification-token", challenge, type: "url_verification" }),
        {},
      );
      return reply.status === 200 && reply.text.includes(challenge);
    },
    /** Posts any body to the app's request URL; wrong secret, old time or missing signature on demand. */
    forge: (app: App, body: string, how: Forgery = {}): Promise<{ status: number; text: string }> =>
      postAs(app, body, how),
  };
}

/** How a forged request differs from a real one. */
export interface Forgery {
  secret?: string;
  ageSeconds?: number;
  unsigned?: boolean;
  contentType?: string;
}

async function postAs(app: App, body: string, how: Forgery): Promise<{ status: number; text: string }> {
  const at = Math.floor(Date.now() / 1000) - (how.ageSeconds ?? 0);
  const signed = how.unsigned ? {} : signatureHeaders(how.secret ?? app.signingSecret, body, at);
  const headers = { "content-type": how.contentType ?? "application/json", ...signed };
  const response = await fetch(app.requestUrl ?? "", {
    method: "POST",
    body,
    headers,
    redirect: "manual",
    signal: AbortSignal.timeout(5000),
  });
  return { status: response.status, text: await response.text() };
}
