/**
 * Learns from Slack who a bot is in a workspace, from its token alone, and makes the SlackBot that everything else works with.
 * Invariant: a bot exists only after Slack accepted its token; permissions that are missing do not stop it, they are named.
 */

import type { AdapterAccount, AdapterContext, Log, SecretValue } from "../../engine/index.ts";
import { type Fields, toFields, toText, toTexts } from "../shared/fields.ts";
import type { Looks } from "../shared/looks.ts";
import type { SlackBot } from "./bot.ts";
import { createCalls, type SlackCalls } from "./clients.ts";
import { createDirectory } from "./directory.ts";
import type { SlackIdentity } from "./inbound.ts";
import { missingScopes } from "./manifest.ts";
import { createPresence } from "./presence.ts";

/** What signing in needs. */
export interface SignInParts {
  readonly account: AdapterAccount;
  readonly context: AdapterContext;
  readonly apiUrl: string;
  readonly looks: Looks;
  readonly log: Log;
}

/** A bot that Slack knows. `remedy` names permissions it lacks. */
export interface SignedIn {
  readonly bot: SlackBot;
  readonly workspaceName: string;
  readonly remedy?: string;
}

/** Signs in with one bot token. Rejects with the client's error when Slack refuses it or does not answer. */
export async function signIn(parts: SignInParts, token: SecretValue): Promise<SignedIn> {
  const { account, context, apiUrl, looks, log } = parts;
  const calls = await createCalls(apiUrl, token.reveal(), log);
  const answer = toFields(await calls.web("auth.test", {}));
  const facts = await factsOf(answer, calls);
  const installation = await context.identify(account, {
    appId: facts.appId,
    workspaceId: facts.workspaceId,
    botUserId: facts.botUserId,
    otherIds: [facts.slackBotId, facts.appId],
  });
  const self: SlackIdentity = { ...facts, installationId: installation.id };
  const remedy = scopeRemedy(answer);
  if (remedy !== undefined) log.warn({ remedy }, "slack app lacks scopes");
  return {
    workspaceName: toText(answer.team) ?? facts.workspaceId,
    ...(remedy === undefined ? {} : { remedy }),
    bot: {
      botId: account.botId,
      name: account.name,
      role: account.role,
      apiUrl,
      self,
      token,
      calls,
      directory: createDirectory(calls, self, context.clock),
      presence: createPresence({
        calls,
        kv: context.kv,
        installationId: installation.id,
        clock: context.clock,
        log,
        isShown: looks.status !== "off",
      }),
      looks,
      ...(installation.persona === undefined ? {} : { persona: installation.persona }),
      context,
      log,
    },
  };
}

function scopeRemedy(answer: Fields): string | undefined {
  const granted = toTexts(toFields(answer.response_metadata).scopes);
  const missing = granted.length === 0 ? [] : missingScopes(granted);
  if (missing.length === 0) return undefined;
  return `The Slack app lacks ${missing.join(", ")}. Add them under OAuth & Permissions and install the app again.`;
}

async function factsOf(answer: Fields, calls: SlackCalls): Promise<Omit<SlackIdentity, "installationId">> {
  const enterpriseId = toText(answer.enterprise_id);
  const isOrgWide = answer.is_enterprise_install === true && enterpriseId !== undefined;
  const workspaceId = (isOrgWide ? enterpriseId : undefined) ?? toText(answer.team_id) ?? enterpriseId ?? "";
  const botUserId = toText(answer.user_id) ?? "";
  const slackBotId = toText(answer.bot_id) ?? botUserId;
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
