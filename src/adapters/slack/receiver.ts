/**
 * Bolt with our own receiver. Bolt acknowledges events before anybody has looked at them; here it is given an acknowledgement that does nothing, and
 * the real one is sent after the listener has finished, which is after the event was stored (SPEC T1).
 * Invariant: an event whose listener failed is not acknowledged, so Slack delivers it again; one that is so malformed that it never gets there would be
 * no better the next time, and is acknowledged; an interaction always gets an acknowledgement.
 */

import { App, type Receiver } from "@slack/bolt";
import type { Log } from "../../engine/index.ts";
import { type Fields, toFields, toText } from "../shared/fields.ts";
import { clientOptions } from "./clients.ts";

/** Acknowledges to Slack; `response` is for interactions that answer with something. Never throws. */
export type Acknowledge = (response?: unknown) => void;

/** What is done with payloads. `onEvent` rejects when the event could not be stored. */
export interface PayloadHandlers {
  onEvent(body: Fields, retryNum: number): Promise<void>;
  onInteraction(body: Fields, acknowledge: Acknowledge): Promise<void>;
  /** Slack dropped events because there were too many in this minute. */
  onRateLimited(): void;
}

/** A payload as it came over a socket or by HTTP. */
export interface Incoming {
  readonly body: Fields;
  readonly retryNum: number;
  readonly acknowledge: Acknowledge;
}

/** Feeds payloads through Bolt. */
export interface Intake {
  /** Resolves with whether the payload was acknowledged. Never rejects. */
  take(incoming: Incoming): Promise<boolean>;
}

/** Creates the Bolt app of one bot. It is given no token and makes no request: which workspace a payload is for is decided by the handlers. */
export function createIntake(apiUrl: string, handlers: PayloadHandlers, log: Log): Intake {
  const receiver: Receiver = {
    init: () => undefined,
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
  const options = clientOptions(apiUrl, log);
  const app = new App({
    receiver,
    clientOptions: options,
    ...(options.logger === undefined ? {} : { logger: options.logger }),
    convoStore: false,
    ignoreSelf: false,
    attachFunctionToken: false,
    authorize: () => Promise.resolve({}),
  });
  app.error((error) => Promise.reject(error));
  const heard = new WeakSet<object>();
  listen(app, handlers, heard);
  return { take: (incoming) => take({ app, heard, handlers, log }, incoming) };
}

function listen(app: App, handlers: PayloadHandlers, heard: WeakSet<object>): void {
  app.event(/.*/, ({ body, context }) => {
    heard.add(body);
    return handlers.onEvent(toFields(body), context.retryNum ?? 0);
  });
  const interaction = (args: { body: unknown; ack: (response?: never) => Promise<void> }) =>
    handlers.onInteraction(toFields(args.body), (response) => void args.ack(response as never));
  app.action({ type: "block_actions" }, interaction);
  app.view({ type: "view_submission" }, interaction);
  app.view({ type: "view_closed" }, interaction);
  app.command(/.*/, interaction);
  app.shortcut(/.*/, interaction);
  app.options(/.*/, interaction);
}

interface TakeParts {
  readonly app: App;
  /** Bodies of events that reached the listener. */
  readonly heard: WeakSet<object>;
  readonly handlers: PayloadHandlers;
  readonly log: Log;
}

async function take({ app, heard, handlers, log }: TakeParts, incoming: Incoming): Promise<boolean> {
  const isEvent = incoming.body.event !== undefined;
  let acknowledged = false;
  const acknowledge: Acknowledge = (response) => {
    if (acknowledged) return;
    acknowledged = true;
    incoming.acknowledge(response);
  };
  if (toText(incoming.body.type) === "app_rate_limited") handlers.onRateLimited();
  try {
    await app.processEvent({
      body: incoming.body as Record<string, unknown>,
      retryNum: incoming.retryNum,
      ack: (response: unknown) => {
        if (!isEvent) acknowledge(response);
        return Promise.resolve();
      },
    });
  } catch (error) {
    const cause = toFields(error).original ?? error;
    const facts = { type: typeOf(incoming.body), error: cause instanceof Error ? cause.name : "" };
    if (isEvent && heard.has(incoming.body)) {
      log.error(facts, "slack payload failed");
      return false;
    }
    log.error(facts, "slack payload was malformed");
  }
  acknowledge();
  return true;
}

function typeOf(body: Fields): string {
  return toText(toFields(body.event).type) ?? toText(body.type) ?? "unknown";
}
