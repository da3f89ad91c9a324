/** What models are told of tools: which ones, in which order, with which shapes (INTERFACE "Tools the model sees", SPEC X2, M10). */
import { describe, expect, test } from "vitest";
import type { TurnKind } from "../../../src/engine/session.ts";
import { modelTools, toolsFor } from "../../../src/engine/turn/tool-set.ts";
import { tools } from "../../../src/tools/index.ts";
import { toolOf } from "./turn-parts.ts";

const names = (kind: TurnKind, maySpeak = true) => toolsFor(tools, kind, maySpeak).map((tool) => tool.name);

describe("tools of a turn", () => {
  test.each<[TurnKind, string[]]>([
    ["main", ["SendMessage", "ReactToMessage", "request_human"]],
    ["member", ["SendMessage", "ReactToMessage", "request_human"]],
    ["room", ["SendMessage", "ReactToMessage", "request_human"]],
    ["background", ["SendMessage"]],
    ["subagent", []],
  ])("of kind %s include %j, in the same order every time", (kind, expected) => {
    const known = ["SendMessage", "ReactToMessage", "request_human"];
    expect(names(kind).filter((name) => known.includes(name))).toEqual(expected);
    expect(modelTools(toolsFor(tools, kind, true))).toEqual(modelTools(toolsFor(tools, kind, true)));
  });

  test("lose SendMessage together with its guidance", () => {
    expect(names("main", false)).not.toContain("SendMessage");
    expect(names("main", false)).toContain("ReactToMessage");
  });

  test("keep the order of the list", () => {
    const list = [toolOf("b"), toolOf("a"), toolOf("c", { offeredIn: ["background"] })];
    expect(toolsFor(list, "main", true).map((tool) => tool.name)).toEqual(["b", "a"]);
  });
});

describe("a tool's schema", () => {
  const shown = modelTools(tools);
  test.each(shown)("of $name is one flat object without references", ({ schema, description }) => {
    expect(schema).toMatchObject({ type: "object", properties: expect.any(Object) });
    expect(JSON.stringify(schema)).not.toMatch(/"\$(ref|defs|schema)"|"definitions"/);
    for (const key of ["oneOf", "anyOf", "allOf"]) expect(schema).not.toHaveProperty(key);
    expect(description.length).toBeGreaterThan(20);
  });

  const fieldsOf = (name: string) => {
    const schema = shown.find((tool) => tool.name === name)?.schema as { properties: object; required?: string[] };
    return { properties: Object.keys(schema.properties), required: schema.required ?? [] };
  };
  test.each([
    [
      "SendMessage",
      ["type", "content", "images", "url", "alt", "widget", "bcId", "secret", "reply_to", "channel"],
      ["type"],
    ],
    ["ReactToMessage", ["message_address", "emoji"], ["message_address", "emoji"]],
    ["request_human", ["instruction", "reason"], ["instruction"]],
  ])("of %s has exactly the documented fields", (name, properties, required) => {
    expect(fieldsOf(name)).toEqual({ properties, required });
  });

  test("of SendMessage names the types and the parts of a widget", () => {
    const text = JSON.stringify(shown.find((tool) => tool.name === "SendMessage")?.schema);
    for (const word of [
      "text",
      "attachment",
      "widget",
      "cursor-agent",
      "secret-request",
      "prompt",
      "helpText",
      "options",
      "label",
      "value",
      "description",
      "style",
      "multiple",
      "min",
      "max",
      "allowCustom",
      "dismissOnMoveOn",
      "connector",
      "field",
    ]) {
      expect(text).toContain(`"${word}"`);
    }
  });
});
