/** Slack's events as a test forges them: the event of a message that was written without telling anybody, and deliveries of it. */
import type { Fields } from "../emulators/loopback.ts";
import type { App, DeliveryRecord, Post, Slack } from "../emulators/slack/index.ts";

/** The `message` event of a post. */
export function eventOf(post: Post): Fields {
  const { channel, ts } = post;
  return { ...post.body, type: "message", channel: channel.id, channel_type: channel.kind, event_ts: ts };
}

/** An event that Slack believes to have sent: nothing arrived yet. `slack.redeliver` sends it as a retry. */
export function lostDelivery(slack: Slack, app: App, post: Post): DeliveryRecord {
  slack.disturb({ drop: true }, { app });
  const body = slack.sendEvent(app, eventOf(post));
  const createdAt = Date.now();
  return { app, eventType: "message", body, createdAt, sentAt: [], acknowledgedAt: null, lost: false };
}
