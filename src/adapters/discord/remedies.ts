/** What an operator reads beside a connection's state, and what to do about it. */

import { TOKEN_REMEDY } from "./errors.ts";

/** Shown with a bot that sends from this process while another one hears for it. */
export const STANDING_BY = "Sends from here; another process listens for this bot.";

/** Said once when the portal's switch is off. */
export const CONTENT_OFF =
  "discord message content is off: the bot reads only what mentions it, replies to it, and direct messages; parley doctor can switch it on";

/** By the code with which Discord closed for good. */
export const END_REMEDIES: Readonly<Record<number, string>> = {
  4004: TOKEN_REMEDY,
  4010: "Discord refused the shard. Restart Parley.",
  4011: "The bot is in so many servers that Discord demands several connections, which this version does not make.",
  4012: "Discord does not speak this version of its gateway any more. Update Parley.",
  4013: "Discord does not know what this bot asks to receive. Update Parley.",
  4014: "Discord does not let this bot read message content. In the developer portal open Bot, Privileged Gateway Intents, and switch on Message Content; `npx parley doctor` shows the state and can switch it on.",
};
