/** What Slack refuses in an app manifest, as far as its documentation says it: the counterpart of the block rules, for the manifest tests. */

type Fields = Readonly<Record<string, unknown>>;

const KNOWN_EVENTS = new Set([
  "agent_session_stopped",
  "agent_session_title_changed",
  "app_context_changed",
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
]);

/** An event is only delivered with its permission; Slack refuses a manifest that subscribes without it. */
const EVENT_SCOPES: Readonly<Record<string, string>> = {
  app_mention: "app_mentions:read",
  "message.channels": "channels:history",
  "message.groups": "groups:history",
  "message.im": "im:history",
  "message.mpim": "mpim:history",
  reaction_added: "reactions:read",
  reaction_removed: "reactions:read",
};
const KEYS: Readonly<Record<string, readonly string[]>> = {
  "": ["_metadata", "display_information", "features", "oauth_config", "settings"],
  display_information: ["name", "description", "long_description", "background_color"],
  features: ["app_home", "agent_view", "bot_user", "shortcuts", "slash_commands", "unfurl_domains"],
  oauth_config: ["redirect_urls", "scopes", "token_management_enabled", "pkce_enabled"],
  settings: [
    "allowed_ip_address_ranges",
    "event_subscriptions",
    "interactivity",
    "org_deploy_enabled",
    "socket_mode_enabled",
    "token_rotation_enabled",
  ],
};

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Every complaint about a manifest, each with its place; [] when Slack would take it. */
export function manifestProblems(manifest: unknown): string[] {
  const root = fieldsOf(manifest);
  return [
    ...unknownKeys(root),
    ...displayProblems(fieldsOf(root.display_information)),
    ...featureProblems(fieldsOf(root.features), isSocket(root)),
    ...settingProblems(root),
  ];
}

function isSocket(root: Fields): boolean {
  return fieldsOf(root.settings).socket_mode_enabled === true;
}

function unknownKeys(root: Fields): string[] {
  return Object.entries(KEYS).flatMap(([place, known]) => {
    const block = place === "" ? root : fieldsOf(root[place]);
    return Object.keys(block).flatMap((key) => (known.includes(key) ? [] : [`${place}.${key} is not known`]));
  });
}

function sized(place: string, value: unknown, min: number, max: number): string[] {
  const { length } = text(value);
  return length < min || length > max ? [`${place} must have ${min} to ${max} characters`] : [];
}

function displayProblems(display: Fields): string[] {
  return [
    ...sized("display_information.name", display.name, 1, 35),
    ...(display.description === undefined ? [] : sized("display_information.description", display.description, 1, 140)),
  ];
}

function featureProblems(features: Fields, socket: boolean): string[] {
  const bot = fieldsOf(features.bot_user);
  const agent = fieldsOf(features.agent_view);
  const prompts = listOf(agent.suggested_prompts).map(fieldsOf);
  return [
    ...(/^[a-z0-9._-]{1,80}$/.test(text(bot.display_name)) ? [] : ["bot_user.display_name has other characters"]),
    ...(fieldsOf(features.app_home).messages_tab_enabled === true ? [] : ["direct messages are off"]),
    ...sized("agent_view.agent_description", agent.agent_description, 1, 300),
    ...(prompts.length > 4 ? ["agent_view has more than 4 prompts"] : []),
    ...prompts.flatMap((prompt) => [
      ...sized("prompt.title", prompt.title, 1, 75),
      ...sized("prompt.message", prompt.message, 1, 1000),
    ]),
    ...listOf(features.slash_commands).flatMap((command) => commandProblems(fieldsOf(command), socket)),
  ];
}

function commandProblems(command: Fields, socket: boolean): string[] {
  return [
    ...(/^\/[a-z0-9_-]{1,31}$/.test(text(command.command)) ? [] : [`${text(command.command)} is no command's name`]),
    ...sized("slash_command.description", command.description, 1, 2000),
    ...sized("slash_command.usage_hint", command.usage_hint, 1, 1000),
    ...(socket || text(command.url).startsWith("https://") ? [] : ["a slash command needs an https url"]),
  ];
}

function settingProblems(root: Fields): string[] {
  const settings = fieldsOf(root.settings);
  const oauth = fieldsOf(root.oauth_config);
  const scopes = listOf(fieldsOf(oauth.scopes).bot).map(text);
  const subscriptions = fieldsOf(settings.event_subscriptions);
  const events = listOf(subscriptions.bot_events).map(text);
  const socket = isSocket(root);
  const commands = listOf(fieldsOf(root.features).slash_commands).length > 0;
  const reached = [subscriptions.request_url, fieldsOf(settings.interactivity).request_url].map(text);
  return [
    ...(new Set(scopes).size === scopes.length ? [] : ["a scope is listed twice"]),
    ...scopes.filter((scope) => !/^[a-z_.]+(?::[a-z_.]+)*$/.test(scope)).map((scope) => `${scope} is no scope`),
    ...(commands && !scopes.includes("commands") ? ["slash commands need the scope commands"] : []),
    ...events.filter((event) => !KNOWN_EVENTS.has(event)).map((event) => `${event} is no event`),
    ...events.flatMap((event) => {
      const needed = EVENT_SCOPES[event];
      return needed === undefined || scopes.includes(needed) ? [] : [`${event} needs ${needed}`];
    }),
    ...(socket || reached.every((url) => url.startsWith("https://"))
      ? []
      : ["events and interactivity need https urls"]),
    ...listOf(oauth.redirect_urls)
      .filter((url) => !text(url).startsWith("https://"))
      .map(() => "a redirect url is not https"),
    ...(settings.token_rotation_enabled === true ? ["token rotation cannot be switched off again"] : []),
  ];
}
