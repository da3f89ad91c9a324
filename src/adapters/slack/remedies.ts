/** What an operator reads beside a connection's state, and what to do about it. */

/** Shown with a bot that sends from this process while another one hears for it. */
export const STANDING_BY = "Sends from here; another process listens for this bot.";

/** Shown while nothing has come back yet. */
export const NO_ANSWER = "Slack does not answer yet; still trying.";

/** Shown with a bot that no workspace has added. */
export function notInstalled(bot: {
  readonly account: { readonly botId: string };
  readonly context: { readonly publicUrl: string };
}): string {
  return `Not added to any workspace yet. Open ${bot.context.publicUrl}/slack/${bot.account.botId}/install in a browser.`;
}

/** Why Slack does not open sockets for this app token. */
export function appTokenRemedy(code: string, text: string): string {
  if (code === "invalid_auth" || code === "not_allowed_token_type" || code === "not_authed") {
    return "Slack does not accept the app token. Copy the token that begins with xapp- from Basic Information, with the scope connections:write.";
  }
  if (code === "not_allowed") return "Socket Mode is off for this app. Switch it on in the app's settings.";
  return text;
}
