/**
 * What a test sees of a world: answers, requests, and when everything has come to rest. Only looks, never acts.
 */
import type { Llm, LlmRequest } from "../emulators/llm/index.ts";
import { pause } from "../emulators/loopback.ts";
import type { Post, Slack } from "../emulators/slack/index.ts";
import { OPEN_WORK } from "./database.ts";
import type { Life } from "./world-life.ts";

const QUIET_LOOK_MS = 40;
/** Generous, because the machine may be busy; what must be quick says so itself. */
const PATIENCE_MS = 15_000;

/** The looking part of a world. */
export function createWatch(slack: Slack, llm: Llm, life: Life) {
  const answers = (to: Post): Post[] => {
    const direct = to.channel.kind === "im";
    const filter = direct ? {} : { thread: to.threadTs ?? to.ts };
    return slack.posts(to.channel, filter).filter((post) => Number(post.ts) > Number(to.ts));
  };
  const openWork = async () => {
    const [row] = await life.database().rows<{ open: string }>(OPEN_WORK);
    return Number(row?.open ?? Number.NaN);
  };
  const isIdle = async () => {
    const waiting = slack.deliveries.filter(
      (item) => item.acknowledgedAt === null && !item.lost && item.sentAt.length > 0,
    );
    if (waiting.length > 0 || llm.requests.some((request) => request.outcome === "open")) return false;
    return (await openWork()) === 0;
  };
  const pulse = () => `${slack.requests.length} ${slack.deliveries.length} ${llm.requests.length}`;
  return {
    answers,
    openWork,
    until: <T>(look: () => T | null | undefined | false, what: string | (() => string), ms = PATIENCE_MS) =>
      slack.waitUntil(look, what, ms),
    request: (fits: (request: LlmRequest) => boolean, ms = PATIENCE_MS) => llm.waitForRequest(fits, undefined, ms),
    acknowledged: async () => {
      const isHeard = () => slack.deliveries.every((item) => item.acknowledgedAt !== null || item.lost);
      await slack.waitUntil(isHeard, "acknowledgements", PATIENCE_MS);
    },
    answer: (to: Post, ms = PATIENCE_MS) =>
      slack.waitUntil(
        () => answers(to)[0],
        () =>
          `an answer to ${JSON.stringify(to.text)}; said: ${JSON.stringify(slack.posts().map((post) => post.text))}`,
        ms,
      ),
    async quiet(ms = 20_000) {
      const end = Date.now() + ms;
      for (let before = ""; ; ) {
        const idle = await isIdle();
        if (idle && before === pulse()) return;
        if (Date.now() > end) throw new Error(`still busy after ${ms} ms:\n${life.logs.slice(-15).join("")}`);
        before = idle ? pulse() : "";
        await pause(QUIET_LOOK_MS);
      }
    },
  };
}
