/** Who a bot is on Slack: every id by which Slack may name it, read once when its token was accepted. */

import type { SlackCalls } from "./clients.ts";
import type { SlackIdentity } from "./inbound.ts";
import { type Fields, toFields, toText } from "./json.ts";

/** The ids of the bot whose token answered auth.test; one more call when the app's own id is missing there. */
export async function readIdentity(answer: Fields, calls: SlackCalls): Promise<Omit<SlackIdentity, "installationId">> {
  const workspaceId = toText(answer.team_id) ?? toText(answer.enterprise_id) ?? "";
  const botUserId = toText(answer.user_id) ?? "";
  const slackBotId = toText(answer.bot_id) ?? botUserId;
  const enterpriseId = toText(answer.enterprise_id);
  const appId = toText(answer.app_id) ?? (await appIdOf(calls, slackBotId)) ?? slackBotId;
  return { workspaceId, botUserId, slackBotId, appId, ...(enterpriseId === undefined ? {} : { enterpriseId }) };
}

async function appIdOf(calls: SlackCalls, slackBotId: string): Promise<string | undefined> {
  try {
    return toText(toFields(toFields(await calls.web("bots.info", { bot: slackBotId })).bot).app_id);
  } catch {
    // Without permission to look it up the bot's own id stands in; echoes are recognised by the other ids.
    return undefined;
  }
}
