/** The list of tools, in the order models see them. To add one: its file and one line here (DESIGN §7). */

import type { Tool } from "../engine/index.ts";
import { createAgent } from "./create-agent.ts";
import { reactToMessage } from "./react-to-message.ts";
import { readSkill } from "./read-skill.ts";
import { requestHuman } from "./request-human.ts";
import { searchSkills } from "./search-skills.ts";
import { searchTeammates } from "./search-teammates.ts";
import { sendMessage } from "./send-message.ts";
import { sendToAgent } from "./send-to-agent.ts";
import { updateAgent } from "./update-agent.ts";
import { updateState } from "./update-state.ts";

/** All tools of the host. */
export const tools: readonly Tool[] = [
  sendMessage,
  sendToAgent,
  reactToMessage,
  requestHuman,
  searchTeammates,
  createAgent,
  updateAgent,
  searchSkills,
  readSkill,
  updateState,
];

export { type ConnectorParts, type ConnectorSet, createConnectors } from "./mcp/create-connectors.ts";
export { type ConnectorDefinition, readServersFile, type ServerSettings } from "./mcp/definitions.ts";
