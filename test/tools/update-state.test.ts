/** update_state: what it passes on, and that a wrong wish is answered with what is possible. */
import { expect, test } from "vitest";
import type { ToolContext, WorkflowWish } from "../../src/engine/index.ts";
import { updateState } from "../../src/tools/update-state.ts";

async function ask(input: unknown): Promise<{ wishes: WorkflowWish[]; text: string; ok: boolean }> {
  const wishes: WorkflowWish[] = [];
  const context = {
    updateWorkflow: async (wish: WorkflowWish) => {
      wishes.push(wish);
      return { ok: true, text: "done" };
    },
  } as unknown as ToolContext;
  const { ok, text } = await updateState.execute(input as Parameters<typeof updateState.execute>[0], context);
  return { wishes, ok, text };
}

const whole = { target: "workflow", action: "create", name: "n", description: "d", content: "c" };

test.each([
  [whole, { action: "create", name: "n", description: "d", content: "c", audience: "here" }],
  [
    { ...whole, audience: "workspace", id: null },
    { action: "create", name: "n", description: "d", content: "c", audience: "workspace" },
  ],
  [
    { target: "workflow", action: "edit", id: "w", content: "c", name: "" },
    { action: "edit", id: "w", content: "c" },
  ],
  [
    { target: "workflow", action: "delete", id: "w" },
    { action: "delete", id: "w" },
  ],
])("%j is passed on", async (input, wish) => {
  expect((await ask(input)).wishes).toEqual([wish]);
});

test.each([
  [{ ...whole, content: " " }, /needs content as text/],
  [{ ...whole, id: "w" }, /does not take id/],
  [{ ...whole, audience: "everybody" }, /audience is here or workspace/],
  [{ target: "workflow", action: "delete" }, /needs id/],
  [{ target: "memory", action: "create" }, /There is no memory create\./],
  [{ target: "workflow", action: "publish" }, /There is no workflow publish\./],
  [{ target: "__proto__", action: "create" }, /There is no __proto__ create\./],
  [{ target: "workflow", action: "constructor" }, /There is no workflow constructor\./],
  [{}, /There is no target without an action\./],
  [null, /There is no target/],
  [{ target: ["workflow"], action: "create" }, /There is no target create\./],
])("%j is answered with what is possible", async (input, problem) => {
  const { wishes, ok, text } = await ask(input);
  expect(wishes).toEqual([]);
  expect(ok).toBe(false);
  expect(text).toMatch(problem);
  expect(text).toContain("- target workflow, action create: name, description, content, optional audience");
});
