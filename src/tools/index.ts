/** The list of tools, in the order models see them. To add one: its file and one line here (DESIGN §7). */

import type { Tool } from "../engine/index.ts";
import { reactToMessage } from "./react-to-message.ts";
import { requestHuman } from "./request-human.ts";
import { sendMessage } from "./send-message.ts";

/** All tools of the host. */
export const tools: readonly Tool[] = [sendMessage, reactToMessage, requestHuman];
