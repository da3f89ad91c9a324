/** Very long texts become their beginning and a file, host cards become rows (SPEC M2, C9). */
import { describe, expect, test } from "vitest";
import type { Adapter, Delivery, Place } from "../../../src/engine/adapter.ts";
import type { HostCard } from "../../../src/engine/card.ts";
import {
  beginningOf,
  nativeChannelOf,
  renderBubble,
  renderHostCard,
} from "../../../src/engine/delivery/render-delivery.ts";
import type { FileRef } from "../../../src/engine/file-ref.ts";

const END = "\n\n… The whole text is in the attached file.";
const place: Place = {
  installationId: "ins",
  ref: { platform: "slack", workspaceId: "T1", kind: "thread", channelId: "C1", threadId: "1.0" },
};
const file: FileRef = { sha256: "a", ext: "md", name: "message.md", mediaType: "text/markdown", size: 1 };
const kept = (text: string) => {
  const whole = beginningOf(text);
  expect(whole.endsWith(END)).toBe(true);
  return whole.slice(0, -END.length);
};

describe("the beginning of a long text", () => {
  test.each<[string, string, string]>([
    ["a paragraph", `${"a".repeat(1000)}\n\n${"b c\n".repeat(200)}`, "a".repeat(1000)],
    ["a line where no paragraph is near", `x\n\n${"a".repeat(1000)}\n${"b ".repeat(400)}`, `x\n\n${"a".repeat(1000)}`],
    [
      "a word where no line is near",
      `x\n${"abcd ".repeat(400)}`,
      `x\n${"abcd ".repeat(300)}`.slice(0, 1500 - 3).trimEnd(),
    ],
    ["a character where no word is near", "a".repeat(2000), "a".repeat(1500)],
  ])("ends at %s", (_name, text, expected) => {
    expect(kept(text)).toBe(expected);
  });

  test.each([
    ["👍", 2],
    ["👩‍👩‍👧‍👦", 11],
    ["🇩🇪", 4],
    ["e\u0301", 2],
    ["👍🏽", 4],
    ["नि", 2],
  ])("never ends inside %s", (sign, units) => {
    for (let shift = 0; shift < units; shift += 1) {
      const text = "x".repeat(shift) + sign.repeat(Math.ceil(2000 / units));
      const beginning = kept(text);
      expect(beginning.isWellFormed()).toBe(true);
      expect((beginning.length - shift) % units).toBe(0);
      expect(beginning.length).toBeGreaterThan(1500 - units - 1);
    }
  });

  test.each<[string, string, string]>([
    ["backticks", "```js", "```"],
    ["four backticks", "````", "````"],
    ["tildes", "~~~ text", "~~~"],
    ["an indented fence", "  ```", "```"],
  ])("closes a fence of %s that was left open", (_name, open, close) => {
    expect(kept(`${open}\n${"code line\n".repeat(300)}`).endsWith(`\n${close}`)).toBe(true);
  });

  test.each<[string, string]>([
    ["closed before", "```\ncode\n```\n"],
    ["closed by more signs", "```\ncode\n`````\n"],
    ["only mentioned in a line", "use ``` for code\n"],
    ["of inline code that looks like one", "```inline``` is code\n"],
    ["of tildes that holds backticks", "~~~\n```\n~~~\n"],
    ["of four backticks that holds three", "````\n```\n````\n"],
  ])("adds nothing for a fence %s", (_name, text) => {
    expect(kept(`${text}${"word ".repeat(500)}`)).not.toMatch(/(`{3,}|~{3,})$/);
  });

  test("does not take a fence for closed by another kind or by a line with words", () => {
    expect(kept(`\`\`\`\n~~~\n${"word ".repeat(500)}`).endsWith("\n```")).toBe(true);
    expect(kept(`\`\`\`\n\`\`\`js\n${"word ".repeat(500)}`).endsWith("\n```")).toBe(true);
    expect(kept(`\`\`\`\`\n\`\`\`\n${"word ".repeat(500)}`).endsWith("\n````")).toBe(true);
  });

  test("of a short text is the text", () => {
    expect(kept("short text")).toBe("short text");
  });
});

describe("a bubble", () => {
  /** Renders one piece for each 10 characters and one for pictures. */
  const adapter = {
    maxTextPieces: 4,
    render: (delivery: Delivery) => {
      if (delivery.kind !== "bubble" || delivery.content.type !== "text") return [delivery.kind];
      const { content, images } = delivery.content;
      return [
        ...Array.from({ length: Math.ceil(content.length / 500) }, (_, i) => i),
        ...(images.length > 0 ? ["pictures"] : []),
      ];
    },
  } as unknown as Adapter;
  const bubble = (content: string, images: readonly FileRef[] = []): Extract<Delivery, { kind: "bubble" }> => ({
    kind: "bubble",
    entryId: "ent",
    botName: "Ada",
    mentionable: [],
    content: { type: "text", content, images },
  });
  const render = async (delivery: Extract<Delivery, { kind: "bubble" }>) => {
    const stored: string[] = [];
    const rendered = await renderBubble(adapter, place, delivery, async (text) => {
      stored.push(text);
      return file;
    });
    return { ...rendered, stored };
  };

  test("of as many pieces as a platform shows stays whole", async () => {
    const whole = bubble("x".repeat(2000));
    expect(await render(whole)).toEqual({ delivery: whole, pieces: [0, 1, 2, 3], stored: [] });
  });

  test("of one piece more becomes its beginning and a file with all of it", async () => {
    const text = "word ".repeat(500);
    const { delivery, pieces, stored } = await render(bubble(text));
    expect(stored).toEqual([text]);
    expect(delivery).toMatchObject({ content: { content: beginningOf(text), document: file } });
    expect(pieces).toHaveLength(4);
  });

  test("keeps its pictures, and they do not count as text", async () => {
    const pictures = [{ ...file, ext: "png", mediaType: "image/png" }];
    expect((await render(bubble("x".repeat(2000), pictures))).stored).toEqual([]);
    expect((await render(bubble("word ".repeat(500), pictures))).delivery).toMatchObject({
      content: { images: pictures },
    });
  });
});

describe("a host card", () => {
  const adapter = { render: (delivery: Delivery) => [delivery.kind] } as unknown as Adapter;
  const card: HostCard = {
    kind: "retry",
    text: "It failed.",
    controls: [{ value: "retry", label: "Retry", style: "primary" }],
  };
  const input = {
    entryId: "ent",
    conversationKey: "k",
    botId: "ada",
    botName: "Ada",
    place,
    card,
    allowed: ["slack:T1:U1"],
    data: { a: 1 },
  };

  test("with a control gets a card's row for those who may use it", () => {
    expect(renderHostCard(adapter, { ...input, cardId: "crd", sessionId: "ses", ttlMs: 5 })).toMatchObject({
      kind: "host-card",
      text: "It failed.",
      nativeChannel: "slack:T1:C1",
      pieces: ["host-card"],
      card: {
        id: "crd",
        kind: "retry",
        allowed: ["slack:T1:U1"],
        sessionId: "ses",
        ttlMs: 5,
        spec: { kind: "host", data: { a: 1 } },
      },
    });
  });

  test("without one is a notice that nobody can answer", () => {
    const notice = renderHostCard(adapter, {
      ...input,
      card: { kind: "notice", text: "Stopped.", controls: [] },
      cardId: "crd",
    });
    expect(notice).not.toHaveProperty("card");
    expect(renderHostCard(adapter, input)).not.toHaveProperty("card");
  });
});

test("all threads of a channel share one sender", () => {
  const { threadId: _thread, ...ref } = place.ref;
  expect(nativeChannelOf({ installationId: "other", ref: { ...ref, kind: "channel" } })).toBe(nativeChannelOf(place));
});
