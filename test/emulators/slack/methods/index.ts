/**
 * All Web API methods the emulator knows; anything else is `unknown_method`.
 * A new family of methods is one more line here.
 */
import type { Method } from "../call.ts";
import { AGENT_METHODS } from "./agents.ts";
import { CHAT_METHODS } from "./chat.ts";
import { CONVERSATION_METHODS } from "./conversations.ts";
import { FILE_METHODS } from "./files.ts";
import { PEOPLE_METHODS } from "./people.ts";
import { VIEW_METHODS } from "./views.ts";

/** Method name → how it works. */
export const METHODS: Readonly<Record<string, Method>> = {
  ...AGENT_METHODS,
  ...CHAT_METHODS,
  ...CONVERSATION_METHODS,
  ...FILE_METHODS,
  ...PEOPLE_METHODS,
  ...VIEW_METHODS,
};
