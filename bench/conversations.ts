/**
 * People who write to bots directly and look at the clock when the answer arrives. There are many conversations, each used a few times: Slack and
 * the product pace every channel, and a conversation whose turn still runs would be measured as a follow-up.
 */
import type { App, Channel, Slack, User } from "../test/emulators/slack/index.ts";

/** Posts per conversation stay below the burst that Slack allows. */
const POSTS_PER_CONVERSATION = 6;
/** A conversation rests while the others are used. */
const MIN_CONVERSATIONS = 3;
const ANSWER_MS = 60_000;

/** One line of questions, each asked after the one before was answered. */
export interface Lane {
  /** Resolves with the milliseconds from the message to the answer's arrival at Slack. */
  ask(): Promise<number>;
}

/** Makes lanes. */
export interface Conversations {
  /** A lane of about `count` questions to these apps in turn. */
  lane(apps: readonly App[], count: number): Lane;
}

/** Watches a workspace's direct conversations. */
export function createConversations(slack: Slack): Conversations {
  let made = 0;
  const waiting = new Map<Channel, () => void>();
  const meet = (app: App): { readonly app: App; readonly person: User; readonly channel: Channel } => {
    made += 1;
    const person = slack.addPerson(`Person ${made}`);
    const channel = slack.dmChannel(person, app);
    onPost(channel, () => waiting.get(channel)?.());
    return { app, person, channel };
  };
  const ask = ({ app, person, channel }: ReturnType<typeof meet>, text: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const failed = () => reject(new Error(`no answer by ${app.name} within ${ANSWER_MS} ms`));
      const limit = setTimeout(failed, ANSWER_MS);
      const started = performance.now();
      waiting.set(channel, () => {
        waiting.delete(channel);
        clearTimeout(limit);
        resolve(performance.now() - started);
      });
      slack.say(person, channel, text);
    });
  return {
    lane(apps, count) {
      const size = Math.max(MIN_CONVERSATIONS, Math.ceil(count / POSTS_PER_CONVERSATION));
      const places = Array.from({ length: size }, (_, i) => meet(apps[i % apps.length] as App));
      let asked = 0;
      return {
        ask() {
          const place = places[asked % size] as (typeof places)[number];
          asked += 1;
          return ask(place, `Question ${asked}: how long does this take?`);
        },
      };
    },
  };
}

/** Calls back when an app has posted; looking every few milliseconds would blur what is measured. */
function onPost(channel: Channel, then: () => void): void {
  const push = channel.messages.push.bind(channel.messages);
  channel.messages.push = (...messages) => {
    if (messages.some((message) => message.app !== null)) then();
    return push(...messages);
  };
}
