/**
 * Getting an event to an app until it is acknowledged: over one of its sockets or as a signed HTTP request, with the
 * retries Slack makes when no acknowledgement comes in time.
 * Invariant: an event is sent to one socket at a time, keeps its event id over all attempts, and gets a new envelope
 * for each. Without a socket it waits and is sent when one opens, unless it has grown too old by then.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText } from "../loopback.ts";
import { takeDisturbance } from "./faults.ts";
import { postSigned } from "./http-delivery.ts";
import type { DeliveryRecord, Line, Link, Pending } from "./line.ts";
import type { App } from "./model.ts";
import type { Workspace } from "./workspace.ts";
import { later, newId } from "./workspace.ts";

/** The line of an app, made at first use. */
export function lineOf(workspace: Workspace, app: App): Line {
  const owner = app.main ?? app;
  const known = workspace.lines.get(owner);
  if (known) return known;
  const line: Line = { links: [], backlog: [], opened: 0, turn: 0 };
  workspace.lines.set(owner, line);
  return line;
}

/** Wraps an inner event and sends it, subject to the disturbances a test has set. Returns the outer body. */
export function deliverEvent(workspace: Workspace, app: App, event: Fields): Fields {
  const body: Fields = {
    token: "verification-token",
    team_id: app.team.id,
    context_team_id: app.team.id,
    context_enterprise_id: null,
    api_app_id: app.appId,
    event,
    type: "event_callback",
    event_id: newId("Ev"),
    event_time: Math.floor(Date.now() / 1000),
    authorizations: [
      {
        enterprise_id: app.enterprise?.id ?? null,
        team_id: app.enterprise ? null : app.team.id,
        user_id: app.userId,
        is_bot: true,
        is_enterprise_install: app.enterprise !== null,
      },
    ],
    is_ext_shared_channel: false,
    event_context: newId("4-"),
  };
  const disturbance = takeDisturbance(workspace.disturbances, app, asText(event.type));
  if (disturbance?.drop) return body;
  const send = () => {
    for (let copy = 0; copy <= (disturbance?.duplicate ?? 0); copy += 1) {
      deliverBody(workspace, app, body, { ignoreAcks: disturbance?.ignoreAck ? 1 : 0 });
    }
  };
  if (disturbance?.delayMs) later(workspace, disturbance.delayMs, send);
  else send();
  return body;
}

/** Sends an outer body as it is; `attempt` above 0 makes it a retry. */
export function deliverBody(
  workspace: Workspace,
  app: App,
  body: Fields,
  how: { attempt?: number; reason?: string; ignoreAcks?: number } = {},
): DeliveryRecord {
  const eventType = asText(asFields(body.event).type) || asText(body.type);
  const record: DeliveryRecord = {
    app,
    eventType,
    body,
    createdAt: Date.now(),
    sentAt: [],
    acknowledgedAt: null,
    lost: false,
  };
  const pending: Pending = {
    record,
    envelopeId: "",
    attempt: how.attempt ?? 0,
    reason: how.reason ?? "timeout",
    link: null,
    timer: null,
    ignoreAcks: how.ignoreAcks ?? 0,
  };
  workspace.deliveries.push(record);
  lineOf(workspace, app).backlog.push(pending);
  push(workspace, pending);
  return record;
}

/** The next open socket in turn, or null. */
export function nextLink(line: Line): Link | null {
  const open = line.links.filter((link) => link.socket.readyState === link.socket.OPEN);
  line.turn += 1;
  return open[line.turn % Math.max(open.length, 1)] ?? null;
}

function push(workspace: Workspace, pending: Pending): void {
  const { app } = pending.record;
  if (app.mode === "http") {
    void pushHttp(workspace, pending);
    return;
  }
  const link = nextLink(lineOf(workspace, app));
  if (!link) return;
  pending.link = link;
  pending.envelopeId = crypto.randomUUID();
  pending.record.sentAt.push(Date.now());
  if (!link.silent) link.socket.send(JSON.stringify(envelope(pending)));
  pending.timer = later(workspace, workspace.timing.ackTimeoutMs, () => retry(workspace, pending, "timeout"));
}

function envelope(pending: Pending): Fields {
  return {
    envelope_id: pending.envelopeId,
    payload: pending.record.body,
    type: "events_api",
    accepts_response_payload: false,
    retry_attempt: pending.attempt,
    retry_reason: pending.attempt === 0 ? "" : pending.reason,
  };
}

async function pushHttp(workspace: Workspace, pending: Pending): Promise<void> {
  pending.record.sentAt.push(Date.now());
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (pending.attempt > 0) {
    headers["x-slack-retry-num"] = String(pending.attempt);
    headers["x-slack-retry-reason"] = pending.reason;
  }
  const reply = await postSigned(workspace, pending.record.app, JSON.stringify(pending.record.body), headers);
  if (reply.status >= 200 && reply.status < 300) return acknowledge(workspace, pending);
  if (reply.noRetry) return forget(workspace, pending);
  retry(workspace, pending, reply.failure ?? "http_error");
}

function retry(workspace: Workspace, pending: Pending, reason: string): void {
  const { backlog } = lineOf(workspace, pending.record.app);
  if (workspace.closed || !backlog.includes(pending)) return;
  const wait = workspace.timing.retryDelaysMs[pending.attempt];
  if (wait === undefined) {
    pending.record.lost = true;
    forget(workspace, pending);
    return;
  }
  pending.attempt += 1;
  pending.reason = reason;
  pending.link = null;
  pending.timer = later(workspace, wait, () => push(workspace, pending));
}

/** An acknowledgement came for this envelope; unknown and late ones mean nothing. */
export function acknowledgeEnvelope(workspace: Workspace, app: App, envelopeId: string): void {
  const pending = lineOf(workspace, app).backlog.find((candidate) => candidate.envelopeId === envelopeId);
  if (pending) acknowledge(workspace, pending);
}

function acknowledge(workspace: Workspace, pending: Pending): void {
  if (pending.ignoreAcks > 0) {
    pending.ignoreAcks -= 1;
    if (pending.timer) clearTimeout(pending.timer);
    retry(workspace, pending, "timeout");
    return;
  }
  pending.record.acknowledgedAt = Date.now();
  forget(workspace, pending);
}

function forget(workspace: Workspace, pending: Pending): void {
  if (pending.timer) clearTimeout(pending.timer);
  const { backlog } = lineOf(workspace, pending.record.app);
  const at = backlog.indexOf(pending);
  if (at >= 0) backlog.splice(at, 1);
}

/** A socket opened: what waits is sent; what waited too long is lost. */
export function flushBacklog(workspace: Workspace, app: App): void {
  for (const pending of [...lineOf(workspace, app).backlog]) {
    if (pending.link) continue;
    if (Date.now() - pending.record.createdAt > workspace.timing.keepUndeliveredMs) {
      pending.record.lost = true;
      forget(workspace, pending);
      continue;
    }
    if (pending.timer) clearTimeout(pending.timer);
    push(workspace, pending);
  }
}

/** A socket closed: what it had not acknowledged goes to another one, or waits. */
export function releaseLink(workspace: Workspace, app: App, link: Link): void {
  for (const pending of lineOf(workspace, app).backlog) {
    if (pending.link !== link) continue;
    if (pending.timer) clearTimeout(pending.timer);
    pending.link = null;
    pending.attempt = Math.min(pending.attempt + 1, workspace.timing.retryDelaysMs.length);
    pending.reason = "connection_closed";
    push(workspace, pending);
  }
}
