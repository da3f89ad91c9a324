/**
 * The app manifest of a bot: paste it into Slack's "create an app from a manifest" page and everything the bot needs is asked for at once.
 * Also the list of permissions that the start-up check compares with what the token really has.
 */

import { COMMAND_WORDS, commandName } from "./command-name.ts";
import { clip } from "./limits.ts";
import { suggestedPrompts } from "./prompts.ts";

/** What the manifest is made from. */
export interface ManifestInput {
  readonly name: string;
  readonly role: string;
  readonly mode: "socket" | "http";
  readonly botId: string;
  /** Public address of this server without trailing slash; needed for http. */
  readonly publicUrl?: string;
  /** The app is to be added to further workspaces by "Add to Slack". */
  readonly isDistributed?: boolean;
}

/** Permissions without which something promised does not work. */
export const NEEDED_SCOPES = [
  "app_mentions:read",
  "assistant:write",
  "channels:history",
  "channels:read",
  "chat:write",
  "files:read",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "im:write",
  "mpim:history",
  "mpim:read",
  "reactions:read",
  "reactions:write",
  "team:read",
  "usergroups:read",
  "users:read",
] as const;

/** Permissions that nothing promised depends on: the slash command, and posting under a persona's name. */
export const USEFUL_SCOPES = ["commands"] as const;

/** What "Add to Slack" asks a workspace for. */
export const INSTALL_SCOPES: readonly string[] = [...NEEDED_SCOPES, ...USEFUL_SCOPES];

/** Events the bot listens to. */
export const BOT_EVENTS = [
  "agent_session_stopped",
  "app_home_opened",
  "app_mention",
  "app_uninstalled",
  "member_joined_channel",
  "member_left_channel",
  "message.channels",
  "message.groups",
  "message.im",
  "message.mpim",
  "reaction_added",
  "reaction_removed",
  "tokens_revoked",
] as const;

/** Slack's app manifest as a plain object; write it as JSON. Names are cut to Slack's limits. */
export function slackManifest(input: ManifestInput): Record<string, unknown> {
  const requestUrl =
    input.mode === "http" ? `${input.publicUrl ?? "https://YOUR-HOST"}/slack/${input.botId}/events` : undefined;
  const urlOf = (name: string) => (requestUrl === undefined ? {} : { [name]: requestUrl });
  const withUrl = (settings: object) => ({ ...settings, ...urlOf("request_url") });
  const about = input.role.replace(/\s+/g, " ").trim();
  const name = clip(input.name, 35);
  return {
    display_information: { name, description: clip(about, 138) || name },
    features: {
      bot_user: { display_name: handleOf(input.name, input.botId), always_online: true },
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      agent_view: { agent_description: clip(about, 300) || name, suggested_prompts: suggestedPrompts() },
      slash_commands: [
        {
          command: commandName(input.botId),
          description: `Stop, restart or ask about ${name}`,
          usage_hint: COMMAND_WORDS.join(" | "),
          should_escape: false,
          ...urlOf("url"),
        },
      ],
    },
    oauth_config: {
      ...(input.isDistributed && input.publicUrl
        ? { redirect_urls: [`${input.publicUrl}/slack/${input.botId}/oauth`] }
        : {}),
      scopes: { bot: [...INSTALL_SCOPES] },
    },
    settings: {
      event_subscriptions: withUrl({ bot_events: [...BOT_EVENTS] }),
      interactivity: withUrl({ is_enabled: true }),
      org_deploy_enabled: false,
      socket_mode_enabled: input.mode === "socket",
      token_rotation_enabled: false,
    },
  };
}

/** The permissions that are missing, by name. */
export function missingScopes(granted: readonly string[]): readonly string[] {
  return NEEDED_SCOPES.filter((scope) => !granted.includes(scope));
}

const SCOPE_USES: Readonly<Record<string, string>> = {
  "app_mentions:read": "hear mentions",
  "assistant:write": "show that it works, offer Stop",
  "chat:write": "answer",
  "files:read": "read what people upload",
  "files:write": "send files",
  "im:write": "write to people first",
  "reactions:read": "see reactions",
  "reactions:write": "react",
  "team:read": "know the workspace",
  "usergroups:read": "be named through user groups",
  "users:read": "know who is a guest",
};
const PLACES: Readonly<Record<string, string>> = {
  channels: "public channels",
  groups: "private channels",
  im: "direct messages",
  mpim: "group direct messages",
};

/** What a permission is for, in a few words. */
export function scopeUse(scope: string): string {
  const [place = "", ability] = scope.split(":");
  const known = SCOPE_USES[scope];
  if (known !== undefined) return known;
  return ability === "history" ? `read ${PLACES[place] ?? place}` : `know ${PLACES[place] ?? place} and their members`;
}

/** The page that creates the app with this manifest filled in. */
export function manifestLink(manifest: Record<string, unknown>): string {
  return `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(JSON.stringify(manifest))}`;
}

/** Slack takes only these characters in a bot user's display name. */
function handleOf(name: string, botId: string): string {
  const handle = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9-_.]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return (handle || botId).slice(0, 80);
}
