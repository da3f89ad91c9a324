/** The tools people meet first: what they pass on, and what they answer to wrong input. */
import { describe, expect, test, vi } from "vitest";
import type { ToolContext } from "../../src/engine/index.ts";
import { tools } from "../../src/tools/index.ts";
import { reactToMessage } from "../../src/tools/react-to-message.ts";
import { requestHuman } from "../../src/tools/request-human.ts";
import { sendMessage } from "../../src/tools/send-message.ts";

const delivered = { ok: true, text: "delivered: t1s1" };
function context() {
  const send = vi.fn(async () => delivered);
  const react = vi.fn(async () => ({ ok: true, text: "reacted to t1u" }));
  const handOff = vi.fn(async () => ({ ok: true, text: "waiting" }));
  return { send, react, handOff, context: { send, react, handOff } as unknown as ToolContext };
}

describe("SendMessage", () => {
  test("passes on a checked bubble and answers what became of it", async () => {
    const fake = context();
    expect(await sendMessage.execute({ type: "text", content: "hi", url: "" }, fake.context)).toEqual(delivered);
    expect(fake.send).toHaveBeenCalledWith({ type: "text", content: "hi", images: [] });
  });

  test("sends nothing when anything is wrong, and says everything that is", async () => {
    const fake = context();
    const result = await sendMessage.execute({ type: "text", bcId: "x", reply_to: "t1u" }, fake.context);
    expect(result).toMatchObject({
      ok: false,
      text: expect.stringMatching(/Nothing was sent[\s\S]*bcId belongs[\s\S]*content is missing/),
    });
    expect(fake.send).not.toHaveBeenCalled();
  });

  test.each([[null], ["text"], [[]], [{}], [{ type: "poll" }]])(
    "explains input that is no message at all: %j",
    async (input) => {
      const fake = context();
      const result = await sendMessage.execute(input as never, fake.context);
      expect([result.ok, result.text.startsWith("Nothing was sent")]).toEqual([false, true]);
      expect(fake.send).not.toHaveBeenCalled();
    },
  );

  test("looks at its own input and may run again after a crash", () => {
    expect(sendMessage).toMatchObject({ checksInput: true, repeatable: true });
    expect(sendMessage.readOnly).toBeUndefined();
  });
});

describe("ReactToMessage", () => {
  test("passes on address and emoji", async () => {
    const fake = context();
    await reactToMessage.execute({ message_address: "t1u", emoji: "thumbsup" }, fake.context);
    expect(fake.react).toHaveBeenCalledWith("t1u", "thumbsup");
  });

  test.each([
    [{ message_address: "t1u", emoji: "👍" }, true],
    [{ message_address: "t1u", emoji: "" }, false],
    [{ message_address: "t1u", emoji: "x".repeat(61) }, false],
    [{ message_address: "t1u" }, false],
    [{ emoji: "👍" }, false],
  ])("%j fits: %s", (input, fits) => {
    expect(reactToMessage.input.safeParse(input).success).toBe(fits);
  });
});

describe("request_human", () => {
  test("passes on the instruction, with a reason or without", async () => {
    const fake = context();
    await requestHuman.execute({ instruction: "Sign in", reason: "auth" }, fake.context);
    await requestHuman.execute({ instruction: "Help" }, fake.context);
    expect(fake.handOff.mock.calls).toEqual([
      ["Sign in", "auth"],
      ["Help", "other"],
    ]);
  });

  test.each([
    [{ instruction: "x".repeat(1500), reason: null }, true],
    [{ instruction: "x".repeat(1501) }, false],
    [{ instruction: "" }, false],
    [{ instruction: "x", reason: "because" }, false],
  ])("%j fits: %s", (input, fits) => {
    expect(requestHuman.input.safeParse(input).success).toBe(fits);
  });
});

test("every tool has a name of its own", () => {
  const names = tools.map((tool) => tool.name);
  expect(new Set(names).size).toBe(names.length);
});
