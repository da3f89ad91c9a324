/**
 * Which tools a model is offered, by kind of turn (SPEC X2), in a fixed order so that the request's prefix stays the same.
 */

import { z } from "zod";
import type { ModelTool } from "../model/model.ts";
import type { TurnKind } from "../session.ts";
import type { Tool } from "../tool.ts";

/** Name of the only voice. */
export const SEND_TOOL = "SendMessage";

/** Tools whose effect is a message: once it is committed the call is never reported as cut off. */
export const SPEAKING_TOOLS: ReadonlySet<string> = new Set([SEND_TOOL, "SendToAgent"]);

/** Tools of this kind of turn. The switch that turns guidance off takes SendMessage away with it (SPEC M10). */
export function toolsFor(tools: readonly Tool[], kind: TurnKind, maySpeak: boolean): readonly Tool[] {
  return tools.filter((tool) => tool.offeredIn.includes(kind) && (maySpeak || tool.name !== SEND_TOOL));
}

/** Tools as the model sees them: one flat JSON Schema object each. */
export function modelTools(tools: readonly Tool[]): readonly ModelTool[] {
  return tools.map((tool) => {
    if (tool.schema) return { name: tool.name, description: tool.description, schema: tool.schema };
    const { $schema: _schema, ...schema } = z.toJSONSchema(tool.input, { io: "input", unrepresentable: "any" });
    return { name: tool.name, description: tool.description, schema: schema as Record<string, unknown> };
  });
}
