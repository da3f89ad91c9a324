/** Names of connectors' tools: unique, short, made of plain characters, and the same whatever other servers there are. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { toToolNames } from "../../../src/tools/mcp/tool-names.ts";

const nameOf = (connector: string, tool: string, ...others: string[]) =>
  toToolNames(connector, [tool, ...others]).get(tool);

test.each([
  ["files", "read_file", "mcp__files__read_file"],
  ["github.work", "list-issues", /^mcp__github-work-[0-9a-f]{5}__list-issues$/],
  ["files", "read file", /^mcp__files__read_file_[0-9a-f]{8}$/],
  ["files", "日本", /^mcp__files___[0-9a-f_]{8,}$/],
  ["files", "x".repeat(200), /^mcp__files__x+_[0-9a-f]{8}$/],
])("%s / %s", (connector, tool, expected) => {
  expect(nameOf(connector, tool)).toMatch(expected);
  expect(nameOf(connector, tool)?.length).toBeLessThanOrEqual(64);
});

test("two tools never share a name, and each keeps its name beside any others", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 90 }), { maxLength: 30 }), (tools) => {
      const names = toToolNames("odd server!", tools);
      const all = [...names.values()];
      expect(new Set(all).size).toBe(tools.length);
      for (const name of all) expect(name).toMatch(/^mcp__[A-Za-z0-9_-]{1,59}$/);
      for (const tool of tools) expect(toToolNames("odd server!", [tool]).get(tool)).toBe(names.get(tool));
    }),
  );
});

test("tools of two connectors cannot be mistaken for each other", () => {
  expect(nameOf("a__b", "c")).not.toBe(nameOf("a", "b__c"));
  expect(nameOf("a-b", "c")).not.toBe(nameOf("a.b", "c"));
});
