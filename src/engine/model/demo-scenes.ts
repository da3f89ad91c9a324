/**
 * What the demo model says: a scene is a list of steps, a step a list of SendMessage arguments, so that a person sees the pacing of real
 * bots (progress, then result). Pure and deterministic. Invariant: it never pretends to be a language model.
 */

import type { DemoFiles } from "./demo-files.ts";
import type { DemoRequest, Utterance } from "./demo-request.ts";

/** Arguments of one SendMessage call. */
export type Sending = Readonly<Record<string, unknown>>;
/** A message to a teammate: one SendToAgent call. */
export interface Asking {
  readonly target: string;
  readonly message: string;
}
/** Steps of sendings; card types come last, since they end the turn (SPEC M9). */
export type Scene = readonly (readonly (Sending | Asking)[])[];

const TOUR_PROMPT = "The tour so far: which message type did you like best?";
const DEMO_BC_ID = "bc_demo";

const MENU = [
  "- `show text` · `show images` · `show file`",
  "- `show widget`, `show multiple`, `show custom`: questions with choices",
  "- `show cursor` · `show secret` · `show progress` · `show long text`",
  "- `show everything`: all of them in turn",
  "- `ask bo and cy to argue about tea or coffee`: two teammates work, and their answers come back",
  "- `what did I tell you`: what you wrote in this conversation",
].join("\n");

const text = (content: string, more: Sending = {}): Sending => ({ type: "text", content, ...more });

/** The first time somebody says hello, and whenever help is asked for. */
export function helloScene(request: DemoRequest): Scene {
  const name = request.newest?.speaker ? ` ${request.newest.speaker}` : "";
  if (request.hasSpoken)
    return [[text(`Hello again${name}! I am still ${request.botName}, the demo. Try one of these:\n\n${MENU}`)]];
  const role = request.botRole ? ` (${request.botRole})` : "";
  const who = `Hello${name}! I am **${request.botName}**${role}. Please note: I run on the built-in demo model. There is no real language model behind me, so my answers follow a script.`;
  return [[text(who)], [text(`I can show you what a bot's messages look like here. Write:\n\n${MENU}`)]];
}

/** A member of a Group the first time it has its turn there. */
export function memberScene(request: DemoRequest): Scene {
  const role = request.botRole ? `: ${request.botRole}` : "";
  return [
    [
      text(
        `I am **${request.botName}**${role}. I run on the demo model too, so I pass from now on unless you write \`@${request.botName}\`.`,
      ),
    ],
  ];
}

/** When asked who or what this is. */
export function honestScene(request: DemoRequest): Scene {
  const setUp =
    "To talk to a real model, put a provider's key into `.env` (for example `ANTHROPIC_API_KEY`) and name the model in `parley.yaml`.";
  return [
    [
      text(
        `I am ${request.botName} on the **demo model**: a script without a real language model. I recognise a few requests and show what messages can look like.\n\n${setUp}`,
      ),
    ],
  ];
}

/** A text bubble with what Markdown can do. */
export function textScene(): Scene {
  const sample = [
    "## A text bubble",
    "**Bold**, *italic*, ~~struck~~, `code` and a [link](https://example.com).",
    "> A quotation.",
    "1. First\n2. Second\n   - with a detail",
    "| Fruit | Price | In stock |\n|---|---:|:---:|\n| Apple | 1.20 | yes |\n| Plum | 0.80 | no |",
    '```ts\nconst greeting: string = "hello";\nconsole.log(greeting);\n```',
  ];
  return [[text(sample.join("\n\n"))]];
}

/** A text that most platforms have to split (SPEC M2). */
export function longScene(): Scene {
  const paragraphs = Array.from(
    { length: 24 },
    (_, i) => `**${i + 1}.** ${"This paragraph is here to make the text long. ".repeat(5).trim()}`,
  );
  return [
    [
      text(
        `A long text stays one message, even where the platform has to cut it into pieces.\n\n${paragraphs.join("\n\n")}\n\nThat was the end.`,
      ),
    ],
  ];
}

/** A text bubble with all demo pictures. */
export function imagesScene(files: DemoFiles): Scene {
  return [
    [
      text(`${files.images.length} pictures in one bubble; each has a description for people who cannot see it.`, {
        images: files.images,
      }),
    ],
  ];
}

/** A word, then a file. */
export function fileScene(files: DemoFiles): Scene {
  return [[text("Here is a file.")], [{ type: "attachment", ...files.document }]];
}

/** A question with one choice; ends the turn. */
export function widgetScene(): Scene {
  const options = [
    { label: "Tea", value: "tea", description: "Green or black", style: "primary" },
    { label: "Coffee", value: "coffee", description: "Strong" },
    { label: "Nothing, thanks", value: "nothing", style: "danger" },
  ];
  return [
    [
      {
        type: "widget",
        widget: { prompt: "What would you like to drink?", helpText: "One choice. I wait for your answer.", options },
      },
    ],
  ];
}

/** A question with one to three choices; ends the turn. */
export function multipleScene(): Scene {
  const options = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"].map((label) => ({ label }));
  return [
    [
      {
        type: "widget",
        widget: {
          prompt: "Which days suit you?",
          helpText: "Choose one to three.",
          options,
          multiple: { min: 1, max: 3 },
        },
      },
    ],
  ];
}

/** A question that also takes typed answers; ends the turn. */
export function customScene(): Scene {
  const options = [{ label: "Blue", style: "primary" }, { label: "Green" }];
  const widget = {
    prompt: "What is your favourite colour?",
    helpText: "Choose, or type your own answer.",
    options,
    allowCustom: true,
    dismissOnMoveOn: true,
  };
  return [[{ type: "widget", widget }]];
}

/** A card of a cloud coding agent that does not exist, and says so. */
export function cursorScene(): Scene {
  return [
    [text("This card follows a cloud coding agent. It is only a demo: no agent with this id is running.")],
    [{ type: "cursor-agent", bcId: DEMO_BC_ID }],
  ];
}

/** A request for a made-up secret; ends the turn. */
export function secretScene(): Scene {
  const description = "Only a demo: type anything with eight characters or more. Nothing uses it, and I never see it.";
  return [
    [text("A secret goes straight into the vault. It does not appear in this conversation, and no model reads it.")],
    [{ type: "secret-request", secret: { label: "Demo key", description, connector: "demo", field: "key" } }],
  ];
}

/** Several bubbles in one turn: begin, progress, result. */
export function progressScene(): Scene {
  return [
    [text("On it. I will report as I go.")],
    [text("Step 1 of 2 is done: I have looked at the question.")],
    [
      text(
        "Step 2 of 2 is done. **Result:** three bubbles in one turn, each its own message. A real bot would have worked in between.",
      ),
    ],
  ];
}

/** All types in turn up to the widget; the secret request follows its answer. */
export function everythingScene(files: DemoFiles): Scene {
  const options = ["Text", "Pictures", "File", "Agent card", "This question"].map((label) => ({ label }));
  return [
    [text("All message types, one after the other.")],
    ...textScene(),
    ...imagesScene(files),
    ...fileScene(files),
    ...cursorScene(),
    [
      {
        type: "widget",
        widget: {
          prompt: TOUR_PROMPT,
          helpText: "After your answer comes the last type: a secret request.",
          options,
          allowCustom: true,
        },
      },
    ],
  ];
}

/** A widget's answer: names the choice; the tour goes on with its last type. */
export function answerScene(answer: { readonly prompt: string; readonly choice: string }): Scene {
  const told = text(
    answer.choice ? `You chose **${answer.choice}**. Thank you!` : "You left the choice empty. That is fine.",
  );
  return answer.prompt === TOUR_PROMPT ? [[told], ...secretScene()] : [[told]];
}

/** After a secret was stored or declined (SPEC C5). */
export function storedSecretScene(declined: boolean): Scene {
  return [
    [
      text(
        declined
          ? "No problem, nothing was stored."
          : "Thank you! The secret is in the vault. I know only its name, not its value.",
      ),
    ],
  ];
}

/** What the person wrote in this session; questions to the demo itself are left out by the caller. */
export function recallScene(said: readonly string[]): Scene {
  if (said.length === 0)
    return [[text("In this conversation you have not told me anything yet. Tell me something and ask again.")]];
  const lines = said.map((words) => `- ${shorten(words, 200)}`).join("\n");
  return [[text(`In this conversation you told me:\n\n${lines}`)]];
}

/** After thanks or a goodbye. */
export function thanksScene(): Scene {
  return [[text("You are welcome! `help` shows what this demo can do.")]];
}

/** Anything else: says what arrived and what would be needed to answer it. */
export function echoScene(newest: Utterance, hasSpoken: boolean): Scene {
  const heard = newest.words ? `I read: “${shorten(newest.words, 200)}”` : "";
  const seen = newest.files.length > 0 ? `I received ${newest.files.join(", ")}.` : "";
  const arrived = [heard, seen].filter(Boolean).join("\n\n");
  const limits = hasSpoken
    ? "As a demo without a real language model I cannot answer that, but I keep it in mind: ask `what did I tell you`."
    : "I am a demo without a real language model, so I cannot think about it. I keep it in mind, though: ask `what did I tell you`.";
  return [[text(`${arrived}\n\n${limits} \`help\` shows what I can do.`)]];
}

/** When a sending was refused: tells the person why, in the host's words. */
export function refusedScene(reason: string): Sending {
  return text(`I wanted to send something, but it was refused: ${shorten(reason, 300)}`);
}

function shorten(words: string, limit: number): string {
  const line = words.replace(/\s+/g, " ").trim();
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}
