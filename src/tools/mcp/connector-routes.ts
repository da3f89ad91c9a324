/**
 * The web addresses of connectors: where browsers come back after a sign-in, which carries its own proof in its state, and who we are, for sign-in
 * servers that read it there.
 */

import type { AdapterRoute } from "../../engine/index.ts";
import type { Connections } from "./connections.ts";
import { clientDocument } from "./oauth.ts";
import type { SignIns } from "./sign-ins.ts";

/** `GET /mcp/callback` and `GET /mcp/client.json`. */
export function createConnectorRoutes(connections: Connections, signIns: SignIns): readonly AdapterRoute[] {
  return [
    {
      method: "GET",
      path: "/mcp/callback",
      guarded: false,
      maxBody: 0,
      async handle(request) {
        const query = new URL(request.url).searchParams;
        const { ok, text } = await signIns.finish(query, (id) => connections.definition(id));
        return page(ok ? 200 : 400, text);
      },
    },
    {
      method: "GET",
      path: "/mcp/client.json",
      guarded: false,
      maxBody: 0,
      handle: async () => Response.json(clientDocument(signIns.baseUrl)),
    },
  ];
}

/** Only our own words are on it. */
function page(status: number, text: string): Response {
  const html = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Parley</title><p style="font:1.1rem/1.5 system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem">${text}</p>`;
  return new Response(html, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
  });
}
