/**
 * The one-time web form behind `/s/<token>` (SPEC C5): a page without script and with a real password field, for people of any platform.
 * Invariant: the value goes from the form body into a SecretValue and to the engine; it is never echoed, logged or put into an address. Opening the
 * page uses nothing up, so link previews do no harm; the engine uses the link up together with the card.
 * The token itself is the proof that the visitor was asked: who does not know it cannot forge the form. A foreign page is refused besides.
 */

import { createHash, randomUUID } from "node:crypto";
import { type AdapterRoute, escapeHtml, type SecretLinkView, SecretValue } from "../../engine/index.ts";
import { HttpProblem, requireSameOrigin } from "./http.ts";
import type { Hub } from "./hub.ts";
import { MAX_FORM_BYTES } from "./limits.ts";

/** The two routes of the form. Unguarded: the token is the permission. */
export function secretFormRoutes(hub: Hub): readonly AdapterRoute[] {
  const route = { path: "/s/:token", guarded: false, maxBody: MAX_FORM_BYTES };
  return [
    { ...route, method: "GET", handle: (_request, { token }) => showForm(hub, token ?? "") },
    { ...route, method: "POST", handle: (request, { token }) => takeForm(hub, request, token ?? "") },
  ];
}

async function showForm(hub: Hub, token: string): Promise<Response> {
  const view = await readLink(hub, token);
  return view ? page(200, titleOf(view), formHtml(view)) : gonePage();
}

async function takeForm(hub: Hub, request: Request, token: string): Promise<Response> {
  try {
    requireSameOrigin(request, { opaque: true });
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return page(403, "Not accepted", wordsHtml("Not accepted", error.message));
  }
  const view = await readLink(hub, token);
  if (!view) return gonePage();
  const typed = new URLSearchParams(await request.text()).get("value") ?? "";
  if (!typed) return page(422, titleOf(view), formHtml(view, "The field was empty. Enter the secret."));
  const bot = hub.botOfInstallation(view.installationId) ?? [...hub.bots.values()][0];
  if (!bot)
    return page(503, "Not now", wordsHtml("Not now", "The server is starting or stopping. Try again in a moment."));
  const reception = await bot.context.receive({
    type: "secret",
    dedupeKey: `link:${view.cardId}:${randomUUID()}`,
    installationId: view.installationId,
    conversation: view.conversation,
    at: new Date(hub.clock.now()),
    from: view.person,
    cardId: view.cardId,
    value: new SecretValue(typed),
    token,
  });
  if (reception.status === "accepted") return page(200, "Stored", storedHtml(view));
  if (!(await readLink(hub, token))) return gonePage(reception.reason);
  return page(422, titleOf(view), formHtml(view, reception.reason ?? "This was not accepted. Try again."));
}

async function readLink(hub: Hub, token: string): Promise<SecretLinkView | null> {
  const [bot] = hub.bots.values();
  return bot && /^[A-Za-z0-9_-]{16,128}$/.test(token) ? bot.context.readSecretLink(token) : null;
}

function titleOf(view: SecretLinkView): string {
  return `${view.botName} asks for: ${view.label}`;
}

function formHtml(view: SecretLinkView, complaint?: string): string {
  const help = view.description ? `<p id="why">${escapeHtml(view.description)}</p>` : "";
  const error = complaint ? `<p class="error" id="error" role="alert">${escapeHtml(complaint)}</p>` : "";
  const described = [view.description ? "why" : "", "where", complaint ? "error" : ""].filter(Boolean).join(" ");
  return `<h1>${escapeHtml(view.label)}</h1>
<p class="from"><strong>${escapeHtml(view.botName)}</strong> asks you for this.</p>
${help}${error}
<form method="post" autocomplete="off">
<label for="value">${escapeHtml(view.label)}</label>
<input id="value" name="value" type="password" required autofocus autocomplete="off" spellcheck="false" autocapitalize="off" aria-describedby="${described}"${complaint ? ' aria-invalid="true"' : ""} data-1p-ignore data-lpignore="true">
<button type="submit">Store securely</button>
</form>
<p class="where" id="where">It is encrypted and kept for <strong>${escapeHtml(view.connector)}</strong>, field <strong>${escapeHtml(view.field)}</strong>. ${escapeHtml(view.botName)} never sees the value, and it does not appear in the conversation. This page works once.</p>`;
}

function storedHtml(view: SecretLinkView): string {
  return wordsHtml(
    "Stored",
    `Thank you. ${view.botName} now knows that “${view.label}” is available for ${view.connector}, not what it is. You can close this page.`,
  );
}

function gonePage(reason?: string): Response {
  const text = reason ?? "It was used already, its time has run out, or it was never complete.";
  return page(
    410,
    "This link no longer works",
    wordsHtml("This link no longer works", `${text} If the bot still needs the secret, ask it for a new link.`),
  );
}

function wordsHtml(heading: string, text: string): string {
  return `<h1>${escapeHtml(heading)}</h1><p role="status">${escapeHtml(text)}</p>`;
}

const STYLE = `:root{color-scheme:light dark;--bg:#f6f5f2;--card:#fff;--ink:#1d1c1a;--soft:#5f5b55;--line:#dcd8d0;--accent:#3a5bd9;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--bg:#161618;--card:#1f1f22;--ink:#ecebe8;--soft:#a5a19a;--line:#3a393d;--accent:#8ea4ff;--bad:#ff8a80}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:16px;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{width:100%;max-width:440px;background:var(--card);border:1px solid var(--line);border-radius:16px;padding:28px;overflow-wrap:anywhere}
h1{font-size:1.35rem;line-height:1.25;margin:0 0 8px}p{margin:0 0 14px}.from,.where{color:var(--soft)}.where{font-size:.9rem;margin:18px 0 0}
label{display:block;font-weight:600;margin-bottom:6px}input{width:100%;font:inherit;padding:11px 12px;border:1px solid var(--line);border-radius:10px;background:var(--bg);color:inherit}
button{width:100%;margin-top:14px;padding:12px;font:inherit;font-weight:600;border:0;border-radius:10px;background:var(--accent);color:var(--card);cursor:pointer}
input:focus-visible,button:focus-visible{outline:3px solid var(--accent);outline-offset:2px}.error{color:var(--bad);font-weight:600}`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

function page(status: number, title: string, body: string): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex,nofollow">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>`;
  return new Response(html, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    },
  });
}
