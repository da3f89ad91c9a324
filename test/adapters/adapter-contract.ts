/**
 * The suite every adapter passes, against a real (emulated) platform. A harness says how people act and what they see there; the tests say what the
 * engine relies on. Import it from a test file and call it with a function that opens a fresh harness.
 */

import { expect, test } from "vitest";
import type {
  Adapter,
  BubbleContent,
  Delivery,
  FileRef,
  InboundEvent,
  MessageEvent,
  Place,
  Reception,
} from "../../src/engine/index.ts";
import { bubble, deliver, noProgress, pieces, retryCard, waitUntil } from "./deliveries.ts";

/** What people see of one native message of the bot. */
export interface SeenMessage {
  readonly nativeId: string;
  readonly text: string;
  readonly files: readonly string[];
  /** Labels of the controls that can still be used. */
  readonly controls: readonly string[];
}

/** One platform with one bot, one person and a started adapter whose events go to `receive`. */
export interface ContractHarness {
  readonly adapter: Adapter;
  /** Events the adapter handed over, in order, with duplicates. */
  readonly received: readonly InboundEvent[];
  /** What `receive` does from now on; default: accepts. */
  receiveWith(answer: (event: InboundEvent) => Promise<Reception>): void;
  /** The person writes to the bot so that it is addressed. */
  say(text: string): Promise<void>;
  /** Whether the platform has been told that every event was taken in. */
  everythingAcknowledged(): boolean;
  /** Where an answer to this message goes, as the router would say it. */
  placeFor(event: MessageEvent): Place;
  seen(): Promise<readonly SeenMessage[]>;
  /** The next post lands, but its answer is lost. */
  loseNextAnswer(): void;
  /** The person uses a control; resolves when the platform has its acknowledgement (false: none came). */
  click(nativeId: string, label: string): Promise<boolean>;
  /** What only the person was shown, newest last. */
  privateNotices(): Promise<readonly string[]>;
  /** A stored file the adapter can open. */
  file(name: string, mediaType: string, bytes: string): FileRef;
  close(): Promise<void>;
}

const WIDGET: BubbleContent = {
  type: "widget",
  widget: {
    prompt: "Which colour?",
    options: [
      { label: "Blue", value: "blue", style: "primary" },
      { label: "Red", value: "red", style: "default" },
    ],
    allowCustom: false,
    dismissOnMoveOn: false,
  },
};

/** What every adapter does, each as somebody outside would say it. */
export const CONTRACT: readonly (readonly [string, (h: ContractHarness) => Promise<void>])[] = [
  [
    "is connected after start and says so",
    async (h) => {
      expect(h.adapter.health().map((one) => one.state)).toEqual(["connected"]);
    },
  ],

  [
    "a person's message arrives once, with its text, author and place",
    async (h) => {
      const event = await hear(h, "hello there");
      expect(event.text).toContain("hello there");
      expect(event.from.kind).toBe("member");
      expect(event.from.id.startsWith(`${h.adapter.platform}:`)).toBe(true);
      expect(event.conversation.platform).toBe(h.adapter.platform);
      expect(event.platformId).not.toBe("");
    },
  ],

  [
    "is acknowledged only after it was stored",
    async (h) => {
      let release: () => void = () => undefined;
      const stored = new Promise<void>((resolve) => {
        release = resolve;
      });
      h.receiveWith(async () => {
        await stored;
        return { status: "accepted" };
      });
      await h.say("slow to store");
      await waitUntil(() => h.received.length > 0, "the event");
      expect(h.everythingAcknowledged()).toBe(false);
      release();
      await waitUntil(() => h.everythingAcknowledged(), "the acknowledgement");
    },
  ],

  [
    "what could not be stored is not acknowledged and comes again with the same key",
    async (h) => {
      let failures = 0;
      h.receiveWith(async () => {
        failures += 1;
        if (failures <= 1) throw new Error("the database is away");
        return { status: "accepted" };
      });
      await h.say("try again");
      await waitUntil(() => h.received.length > 1 && h.everythingAcknowledged(), "the second delivery");
      expect(new Set(h.received.map((event) => event.dedupeKey)).size).toBe(1);
    },
  ],

  [
    "a text is shown once, in the place of the question, and its receipt names it",
    async (h) => {
      const place = h.placeFor(await hear(h, "a question"));
      const [receipt] = await deliver(h, bubble("e1", { type: "text", content: "An **answer**", images: [] }), place);
      const seen = await waitUntil(async () => (await h.seen()).find((m) => m.text.includes("answer")), "the answer");
      expect(seen.nativeId).toBe(receipt?.nativeId);
      expect((await h.seen()).filter((m) => m.text.includes("answer"))).toHaveLength(1);
    },
  ],

  [
    "rendering the same delivery again gives the same pieces",
    async (h) => {
      const place = h.placeFor(await hear(h, "a question"));
      const delivery = bubble("e1", { type: "text", content: "word ".repeat(9000), images: [] });
      const pieces = h.adapter.render(delivery, place);
      expect(h.adapter.render(delivery, place)).toEqual(pieces);
      expect(JSON.parse(JSON.stringify(pieces))).toEqual(pieces);
    },
  ],

  [
    "a post whose answer was lost is found, and is there only once",
    async (h) => {
      const place = h.placeFor(await hear(h, "a question"));
      const [piece] = pieces(h, bubble("e1", { type: "text", content: "Only once", images: [] }), place);
      if (!piece) throw new Error("nothing was rendered");
      h.loseNextAnswer();
      await expect(h.adapter.deliver(piece, noProgress)).rejects.toMatchObject({ problem: "unknown" });
      const found = await h.adapter.find({ ...piece, attempts: 1, attemptedAt: new Date() });
      expect(found?.nativeId).toBeDefined();
      expect((await h.seen()).filter((m) => m.text.includes("Only once"))).toHaveLength(1);
    },
  ],

  [
    "a post that never happened is not found",
    async (h) => {
      const place = h.placeFor(await hear(h, "a question"));
      const [piece] = pieces(h, bubble("e1", { type: "text", content: "Never sent", images: [] }), place);
      if (!piece) throw new Error("nothing was rendered");
      expect(await h.adapter.find({ ...piece, attempts: 1, attemptedAt: new Date() })).toBeNull();
    },
  ],

  [
    "every kind of bubble and host card is shown",
    async (h) => {
      const place = h.placeFor(await hear(h, "show me everything"));
      const picture = h.file("dot.png", "image/png", "png bytes");
      const shown: readonly [Delivery, (m: SeenMessage) => boolean][] = [
        [bubble("e1", { type: "text", content: "Look", images: [picture] }), (m) => m.files.includes("dot.png")],
        [
          bubble("e2", { type: "attachment", file: h.file("note.txt", "text/plain", "words") }),
          (m) => m.files.includes("note.txt"),
        ],
        [bubble("e3", WIDGET, "c3"), (m) => m.controls.includes("Blue") && m.text.includes("Which colour?")],
        [
          bubble("e4", { type: "cursor-agent", bcId: "bc_1", url: "https://cursor.com/agents?id=bc_1" }),
          (m) => m.text.includes("bc_1"),
        ],
        [
          bubble(
            "e5",
            {
              type: "secret-request",
              secret: { label: "Key for Acme", connector: "acme", field: "key" },
              webForm: true,
            },
            "c5",
          ),
          (m) => m.text.includes("Key for Acme") && m.controls.length > 0,
        ],
        [retryCard("e6", "c6"), (m) => m.text.includes("did not work") && m.controls.includes("Retry")],
      ];
      for (const [delivery, fits] of shown) {
        await deliver(h, delivery, place);
        await waitUntil(async () => (await h.seen()).some(fits), `${delivery.entryId} to be shown`);
      }
    },
  ],

  [
    "pressing Retry becomes an answer to its card",
    async (h) => {
      const place = h.placeFor(await hear(h, "a question"));
      const [receipt] = await deliver(h, retryCard("e1", "c1"), place);
      expect(await h.click(receipt?.nativeId ?? "", "Retry")).toBe(true);
      const answer = await waitUntil(() => h.received.find((event) => event.type === "answer"), "the answer");
      expect(answer).toMatchObject({ type: "answer", cardId: "c1", choices: ["retry"] });
    },
  ],

  [
    "a refused click is acknowledged and its reason told to that person only",
    async (h) => {
      const place = h.placeFor(await hear(h, "a question"));
      const [receipt] = await deliver(h, bubble("e1", WIDGET, "c1"), place);
      h.receiveWith(async () => ({ status: "refused", reason: "Only Alice may answer this." }));
      const before = await h.seen();
      expect(await h.click(receipt?.nativeId ?? "", "Red")).toBe(true);
      await waitUntil(async () => (await h.privateNotices()).some((note) => note.includes("Only Alice")), "the reason");
      expect(await h.seen()).toEqual(before);
    },
  ],

  [
    "a settled card shows the outcome, loses its controls, and may be settled twice",
    async (h) => {
      const place = h.placeFor(await hear(h, "a question"));
      const delivery = bubble("e1", WIDGET, "c1");
      const receipts = await deliver(h, delivery, place);
      const outcome = {
        cardId: "c1",
        state: "answered",
        answer: { values: ["blue"], labels: ["Blue"] },
        byName: "Alice",
      } as const;
      await h.adapter.settle(delivery, place, receipts, outcome);
      await h.adapter.settle(delivery, place, receipts, outcome);
      const seen = await waitUntil(
        async () => (await h.seen()).find((m) => m.text.includes("Alice") && m.controls.length === 0),
        "the redrawn card",
      );
      expect(seen.text).toContain("Which colour?");
      expect(seen.text).toContain("Blue");
    },
  ],

  [
    "working status can be switched on and off anywhere without harm",
    async (h) => {
      const place = h.placeFor(await hear(h, "a question"));
      await h.adapter.showWorking?.(place, true);
      await h.adapter.showWorking?.(place, false);
      expect(await h.seen()).toEqual([]);
    },
  ],
];

/** Declares the contract tests for one adapter. */
export function adapterContract(name: string, open: () => Promise<ContractHarness>): void {
  for (const [title, run] of CONTRACT) {
    test(`${name}: ${title}`, async () => {
      const harness = await open();
      try {
        await run(harness);
      } finally {
        await harness.close();
      }
    });
  }
}

async function hear(h: ContractHarness, text: string): Promise<MessageEvent> {
  await h.say(text);
  const event = await waitUntil(
    () => h.received.find((one): one is MessageEvent => one.type === "message" && one.text.includes(text)),
    `the message "${text}"`,
  );
  await waitUntil(() => h.everythingAcknowledged(), "its acknowledgement");
  return event;
}
