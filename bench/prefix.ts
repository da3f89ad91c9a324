/**
 * How much of each prompt is byte for byte the beginning of the one before it in the same session (SPEC X1: at least 95 % within a cycle), in
 * conversations of different kinds. This is what providers cache; everything behind the first changed byte is paid in full.
 */
import type { LlmRequest, Script } from "../test/emulators/llm/index.ts";
import { sendMessage } from "../test/emulators/llm/index.ts";
import type { App, Channel, Slack, User } from "../test/emulators/slack/index.ts";
import { steps } from "../test/support/scripts.ts";
import { newFolder, startProduct, startSurroundings } from "./surroundings.ts";
import { median, percentile, printNote, printTable } from "./table.ts";

/** Bubbles per session; Slack takes about one a second in a channel. */
const BUBBLES = 18;
const SHORT = "What is the state of the release? Please tell me in two sentences what is left to do.";
const WORK =
  "I looked at the board: two tickets are open, both in review, and the tests of the last build have passed.";

/** Each kind has a bot of its own, so that its requests can be told apart. */
interface Kind {
  readonly about: string;
  readonly bot: string;
  readonly script: Script;
  readonly turns: number;
  /** Lets one message come in. */
  say(stage: Stage, turn: number): void;
}

interface Stage {
  readonly slack: Slack;
  readonly app: App;
  readonly people: readonly User[];
  readonly channel: Channel;
}

const person = ({ people }: Stage, turn: number) => people[turn % people.length] as User;

const KINDS: readonly Kind[] = [
  {
    about: "direct message, one bubble",
    bot: "Ada",
    script: steps(sendMessage(WORK)),
    turns: BUBBLES,
    say: (stage, turn) => void stage.slack.dm(person(stage, 0), stage.app, `${turn}: ${SHORT}`),
  },
  {
    about: "direct message, three bubbles",
    bot: "Bea",
    script: steps(sendMessage(`One. ${WORK}`), sendMessage(`Two. ${WORK}`), sendMessage(`Three. ${WORK}`)),
    turns: BUBBLES / 3,
    say: (stage, turn) => void stage.slack.dm(person(stage, 0), stage.app, `${turn}: ${SHORT}`),
  },
  {
    about: "thread with chatter between",
    bot: "Cleo",
    script: steps(sendMessage(WORK)),
    turns: BUBBLES,
    say: (stage, turn) => {
      const root = stage.channel.messages[0]?.body.ts;
      const thread = root === undefined ? {} : { thread: { channel: stage.channel, ts: root } };
      if (root !== undefined) {
        for (let i = 0; i < 3; i += 1)
          stage.slack.say(person(stage, turn + i), stage.channel, `I think ${SHORT}`, thread);
      }
      stage.slack.say(
        person(stage, turn),
        stage.channel,
        `${stage.slack.mention(stage.app)} ${turn}: ${SHORT}`,
        thread,
      );
    },
  },
];

const lastOfTurn = (requests: readonly LlmRequest[]) =>
  requests.filter((request) => request.lastRole === "tool" && request.outcome === "answered").length;

async function talk(
  kind: Kind,
  stage: Stage,
  requests: () => readonly LlmRequest[],
  ended: () => number,
): Promise<void> {
  for (let turn = 0; turn < kind.turns; turn += 1) {
    const before = ended();
    kind.say(stage, turn);
    await stage.slack.waitUntil(() => ended() > before, `the end of turn ${turn} of ${kind.bot}`, 60_000);
  }
  if (lastOfTurn(requests()) === 0) throw new Error(`${kind.bot} did not speak`);
}

function rowOf(kind: Kind, requests: readonly LlmRequest[]): readonly string[] {
  const later = requests.slice(1);
  const shares = later.map((request) => request.sharedPrefix);
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  // The part of the last prompt that is still there, from its first character on: 100 % unless something was changed or taken away.
  const kept = later.map(
    (request, i) => (request.sharedPrefix * request.promptLength) / (requests[i]?.promptLength ?? 1),
  );
  const fresh = later.map((request) => request.promptLength * (1 - request.sharedPrefix));
  return [
    kind.about,
    String(requests.length),
    percent(median(shares)),
    percent(percentile(shares, 0.05)),
    percent(Math.min(...shares)),
    `${shares.filter((share) => share < 0.95).length} of ${shares.length}`,
    percent(Math.min(...kept)),
    median(fresh).toFixed(0),
    `${requests[0]?.promptLength ?? 0} → ${requests.at(-1)?.promptLength ?? 0}`,
  ];
}

async function run(): Promise<void> {
  const around = await startSurroundings();
  const { slack, llm } = around;
  const folder = newFolder();
  const people = ["Alice", "Bob", "Carol"].map((name) => slack.addPerson(name));
  const stages = KINDS.map(({ bot }): Stage => {
    const app = slack.addApp({ name: bot });
    return { slack, app, people, channel: slack.addChannel(`about-${bot.toLowerCase()}`, [app, ...people]) };
  });
  for (const { bot, script } of KINDS) llm.script(bot.toLowerCase(), script);
  const product = await startProduct(around, { folder: folder.path, apps: stages.map(({ app }) => app) });
  try {
    const endedBy = (bot: string) => () =>
      product.lines.filter((line) => line.includes('"turn ended"') && line.includes(`"botId":"${bot}"`)).length;
    const requestsOf = (bot: string) => () => llm.requestsOf(bot);
    await Promise.all(
      KINDS.map((kind, i) => {
        const bot = kind.bot.toLowerCase();
        return talk(kind, stages[i] as Stage, requestsOf(bot), endedBy(bot));
      }),
    );
    const columns = [
      "",
      "requests",
      "median",
      "p5",
      "lowest",
      "below 95 %",
      "last one kept",
      "new characters",
      "prompt, first → last",
    ];
    const rows = KINDS.map((kind) => rowOf(kind, llm.requestsOf(kind.bot.toLowerCase())));
    printTable(`Shared beginning of prompts, one session each, ${BUBBLES} bubbles`, columns, rows);
    printNote(
      "A prompt is tools, system text and messages, in the order in which providers cache them, in characters. Young sessions lie below 95 %,",
    );
    console.log(
      "  because little came before what is new. 'last one kept': the lowest share of a prompt that its successor begins with.",
    );
  } finally {
    await product.stop();
    await around.close();
    folder.remove();
  }
}

await run();
