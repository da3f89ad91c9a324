/**
 * The status page of the console (SPEC O3, P2): bots on their platforms, connectors, skills and plugins, each with what is wrong and what would help.
 * Plain HTML without a script; it draws itself anew every ten seconds. Everything shown is text, whoever wrote it.
 */
import { createHash } from "node:crypto";
import { type AdapterRoute, type ConnectorHealth, type Engine, escapeHtml, type SkillProblem } from "./engine/index.ts";

/** What the page shows, read at each request. */
export interface StatusParts {
  readonly bots: () => ReturnType<Engine["health"]>;
  readonly botName: (botId: string) => string;
  readonly connectors: () => readonly ConnectorHealth[];
  readonly skills: () => { readonly known: number; readonly problems: readonly SkillProblem[] };
}

/** GET /status, behind the password where there is one. */
export function createStatusRoute(parts: StatusParts): AdapterRoute {
  return {
    method: "GET",
    path: "/status",
    guarded: true,
    maxBody: 0,
    handle: () => Promise.resolve(pageOf(parts)),
  };
}

const STYLE = `:root{color-scheme:light dark;--bg:#f6f5f2;--card:#fff;--ink:#1d1c1a;--soft:#5f5b55;--line:#dcd8d0;--good:#1b6e3c;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--bg:#161618;--card:#1f1f22;--ink:#ecebe8;--soft:#a5a19a;--line:#3a393d;--good:#7fd6a0;--bad:#ff8a80}}
*{box-sizing:border-box}body{margin:0;padding:24px 16px;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:760px;margin:0 auto}h1{font-size:1.35rem;margin:0 0 4px}h2{font-size:1rem;margin:24px 0 8px}p{margin:0;color:var(--soft)}a{color:inherit}
ul{list-style:none;margin:0;padding:0;background:var(--card);border:1px solid var(--line);border-radius:12px}li{padding:10px 14px;overflow-wrap:anywhere}
li+li{border-top:1px solid var(--line)}b{font-weight:600}.good{color:var(--good)}.bad{color:var(--bad)}small{display:block;color:var(--soft)}`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");
const GOOD: ReadonlySet<string> = new Set(["connected", "off"]);

function pageOf(parts: StatusParts): Response {
  const { known, problems } = parts.skills();
  const bots = parts.bots().map(({ botId, platform, state, remedy, lastEventAt }) => {
    const heard = lastEventAt ? `last event ${lastEventAt.toISOString().slice(0, 19).replace("T", " ")} UTC` : "";
    return line(`${parts.botName(botId)} on ${platform}`, state, [remedy ?? "", heard]);
  });
  const connectors = parts
    .connectors()
    .map(({ connector, state, tools, remedy }) => line(connector, state, [`${tools} tools`, remedy ?? ""]));
  const faults = problems.map(({ where, text }) => line(where, "cannot be used", [text]));
  const body = [
    '<h1>Status</h1><p>As it is now; drawn anew every ten seconds. <a href="/">Back to the playground</a></p>',
    section("Bots", bots, "There is no bot."),
    section("Connectors", connectors, "None: mcp.servers names no server, and no plugin's server is enabled."),
    section(`Skills for all bots: ${known}`, faults, "Nothing is wrong with any."),
  ].join("");
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta http-equiv="refresh" content="10">
<title>Status · Parley</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>`;
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
    },
  });
}

function section(title: string, lines: readonly string[], none: string): string {
  return `<h2>${escapeHtml(title)}</h2>${lines.length > 0 ? `<ul>${lines.join("")}</ul>` : `<p>${escapeHtml(none)}</p>`}`;
}

function line(what: string, state: string, more: readonly string[]): string {
  const facts = more.filter((text) => text !== "").map((text) => `<small>${escapeHtml(text)}</small>`);
  const look = GOOD.has(state) ? "good" : "bad";
  return `<li><b>${escapeHtml(what)}</b> · <span class="${look}">${escapeHtml(state)}</span>${facts.join("")}</li>`;
}
