/** A scripted bot for the playground: it shows every kind of message when asked, and closes its cards when they are used. */

import type { BubbleContent, HostCard, InboundEvent, Reception, Widget } from "../../src/engine/index.ts";
import { makeLandscape } from "./png.ts";
import type { Posted, WebWorld } from "./web-world.ts";

/** The questions the scripted bot asks, by card id. */
export const WIDGETS: Readonly<Record<string, Widget>> = {
  buttons: widget("When shall we meet?", ["Tuesday morning", "Wednesday", "Not this week"], { allowCustom: true }),
  radios: widget("Which office do you mean?", ["Berlin", "Lisbon", "Oslo", "Kyoto", "Lima", "Accra"]),
  menu: widget(
    "Which month?",
    Array.from({ length: 12 }, (_, index) => `Month ${index + 1}`),
  ),
  boxes: widget("Which sources should I read?", ["Papers", "News", "Forums", "Our wiki"], {
    multiple: { min: 1, max: 2 },
  }),
};

function widget(prompt: string, labels: readonly string[], more: Partial<Widget> = {}): Widget {
  const options = labels.map((label, index) => ({
    label,
    value: label.toLowerCase().replaceAll(" ", "-"),
    style: index === 0 ? ("primary" as const) : ("default" as const),
  }));
  return { prompt, options, allowCustom: false, dismissOnMoveOn: false, ...more };
}

const TEXT = `Here is what I found about **tidal power**.

| Site | Output | Since |
| --- | --- | --- |
| Sihwa Lake | 254 MW | 2011 |
| La Rance | 240 MW | 1966 |

1. Both run on a [barrage](https://example.org/barrage), not on free turbines.
2. The older one still makes \`240 MW\` at peak.

\`\`\`python
def energy(power_mw, hours, factor=0.27):
    return power_mw * hours * factor
\`\`\``;

const RETRY: HostCard = {
  kind: "retry",
  text: "Ada could not reach its model. Nothing was lost.",
  controls: [{ value: "retry", label: "Retry", style: "primary" }],
};

/** Makes the world's bots answer: "show everything", or any of pictures, widget, secret, file, agent, retry, text. */
export function runShowcase(world: WebWorld): void {
  const cards = new Map<string, { posted: Posted; widget?: Widget }>();
  const closed = new Set<string>();
  const post = async (event: InboundEvent, content: BubbleContent | HostCard, cardId?: string) => {
    const botId = event.installationId.replace(/^web-/, "");
    const id = cardId ? `${cardId}-${event.dedupeKey}` : undefined;
    const posted = await world.post(botId, event.conversation, content, id ? { cardId: id } : {});
    const asked = cardId ? WIDGETS[cardId] : undefined;
    if (id) cards.set(id, { posted, ...(asked ? { widget: asked } : {}) });
  };
  world.onEvent = async (event): Promise<Reception> => {
    if (event.type === "message") {
      for (const [content, cardId] of script(world, event.text)) await post(event, content, cardId);
      return { status: "accepted" };
    }
    if (event.type !== "answer" && event.type !== "secret" && event.type !== "dismiss") return { status: "accepted" };
    const card = cards.get(event.cardId);
    if (!card || closed.has(event.cardId)) return { status: "refused", reason: "Somebody answered this already." };
    closed.add(event.cardId);
    const values = event.type === "answer" ? event.choices : [];
    const options = card.widget?.options ?? RETRY.controls;
    const labels = options.filter((option) => values.includes(option.value)).map((option) => option.label);
    const custom = event.type === "answer" && event.text ? { custom: event.text } : {};
    const state = event.type === "dismiss" ? "dismissed" : "answered";
    await world.settle(card.posted, { state, byName: event.from.name, answer: { values, labels, ...custom } });
    return { status: "accepted" };
  };
}

function script(world: WebWorld, text: string): readonly (readonly [BubbleContent | HostCard, string?])[] {
  const all = text.includes("everything");
  const picked: (readonly [BubbleContent | HostCard, string?])[] = [];
  const add = (word: string, ...items: (readonly [BubbleContent | HostCard, string?])[]) => {
    if (all || text.includes(word)) picked.push(...items);
  };
  add("text", [{ type: "text", content: TEXT, images: [] }]);
  add("pictures", [{ type: "text", content: "Three places it could be built:", images: pictures(world) }]);
  add("file", [{ type: "attachment", file: csv(world) }]);
  add("widget", ...Object.entries(WIDGETS).map(([id, one]) => [{ type: "widget" as const, widget: one }, id] as const));
  add("secret", [{ type: "secret-request", secret: SECRET, webForm: false }, "secret"]);
  add("agent", [{ type: "cursor-agent", bcId: "bc-7f3a", url: "https://cursor.com/agents?id=bc-7f3a" }]);
  add("retry", [RETRY, "retry"]);
  return picked.length ? picked : [[{ type: "text", content: `You said: ${text}`, images: [] }]];
}

const SECRET = {
  label: "Tide API key",
  description: "You find it under Account, Keys.",
  connector: "tides",
  field: "apiKey",
};

function pictures(world: WebWorld) {
  return ["A bay at dawn", "A river mouth", "A strait in the evening"].map((alt, index) =>
    world.addFile(`place-${index + 1}.png`, "image/png", makeLandscape(index), alt),
  );
}

function csv(world: WebWorld) {
  const text = "site,output_mw,since\nSihwa Lake,254,2011\nLa Rance,240,1966\nAnnapolis,20,1984\n";
  return world.addFile("tidal-sites.csv", "text/csv", Buffer.from(text), "Sites with their output");
}
