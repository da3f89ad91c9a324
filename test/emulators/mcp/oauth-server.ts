/**
 * A remote MCP server on loopback that people must sign in to, made of the SDK's own server side: registration, PKCE, refresh and bearer tokens are
 * checked as a real one checks them. Whoever opens its page is signed in as `visitor` at once. Its one tool says whose token was used.
 */
import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { InvalidGrantError, InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import type { AuthorizationParams, OAuthServerProvider } from "@modelcontextprotocol/sdk/server/auth/provider.js";
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { OAuthClientInformationFull, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

/** A running server. */
export interface OAuthMcpServer {
  readonly url: string;
  /** Who is sitting at the browser. */
  visitor: string;
  /** Every token it gave out, access and refresh. */
  readonly tokens: readonly string[];
  /** How often a refresh token was used. */
  readonly refreshes: () => number;
  /** Makes all access tokens of now invalid, as time would. */
  expire(): void;
  /** Makes all tokens invalid, as the person would who takes their consent back. */
  revoke(): void;
  close(): Promise<void>;
}

interface Grant {
  readonly user: string;
  readonly params: AuthorizationParams;
}

/** Starts one on a free port. */
export async function startOAuthMcpServer(): Promise<OAuthMcpServer> {
  const app = createMcpExpressApp();
  const http = await new Promise<Server>((resolve) => {
    const server: Server = app.listen(0, "127.0.0.1", () => resolve(server));
  });
  const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const state = createState();
  const resource = new URL(`${base}/mcp`);
  app.use(mcpAuthRouter({ provider: state.provider, issuerUrl: new URL(base), resourceServerUrl: resource }));
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
  app.use("/mcp", requireBearerAuth({ verifier: state.provider, resourceMetadataUrl }));
  app.post("/mcp", async (request, response) => {
    const server = toolServer();
    const transport = new StreamableHTTPServerTransport({});
    await server.connect(transport as Transport);
    await transport.handleRequest(request, response, request.body);
  });
  app.get("/mcp", (_request, response) => void response.status(405).end());
  app.delete("/mcp", (_request, response) => void response.status(405).end());
  return Object.assign(state.shown, {
    url: resource.href,
    close: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  });
}

function toolServer(): McpServer {
  const server = new McpServer({ name: "signed", version: "1" });
  server.registerTool("whoami", { description: "Says whose account this is" }, async ({ authInfo }) => ({
    content: [{ type: "text", text: `account of ${String(authInfo?.extra?.user)}` }],
  }));
  return server;
}

function createState() {
  const clients = new Map<string, OAuthClientInformationFull>();
  const codes = new Map<string, Grant>();
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  const tokens: string[] = [];
  let refreshes = 0;
  const expire = () => access.clear();
  const revoke = () => {
    access.clear();
    refresh.clear();
  };
  const shown = { visitor: "nobody", tokens, refreshes: () => refreshes, expire, revoke };
  const give = (user: string): OAuthTokens => {
    const [first, second] = [token("access"), token("refresh")];
    access.set(first, user);
    refresh.set(second, user);
    tokens.push(first, second);
    return { access_token: first, refresh_token: second, token_type: "bearer", expires_in: 3600 };
  };
  const provider: OAuthServerProvider = {
    clientsStore: {
      getClient: (id) => clients.get(id),
      registerClient: (client) => {
        const full = { ...client, client_id: token("client"), client_id_issued_at: 0 } as OAuthClientInformationFull;
        clients.set(full.client_id, full);
        return full;
      },
    },
    async authorize(_client, params, response) {
      const code = token("code");
      codes.set(code, { user: shown.visitor, params });
      const back = new URL(params.redirectUri);
      back.searchParams.set("code", code);
      if (params.state) back.searchParams.set("state", params.state);
      response.redirect(back.href);
    },
    challengeForAuthorizationCode: async (_client, code) => known(codes.get(code)).params.codeChallenge,
    async exchangeAuthorizationCode(_client, code) {
      const { user } = known(codes.get(code));
      codes.delete(code);
      return give(user);
    },
    async exchangeRefreshToken(_client, given) {
      const user = refresh.get(given);
      if (!user) throw new InvalidGrantError("taken back");
      refreshes += 1;
      return give(user);
    },
    async verifyAccessToken(given) {
      const user = access.get(given);
      if (!user) throw new InvalidTokenError("expired");
      return { token: given, clientId: "any", scopes: [], expiresAt: Date.now() / 1000 + 60, extra: { user } };
    },
  };
  return { provider, shown };
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("not known here");
  return value;
}

function token(kind: string): string {
  return `${kind}-${randomBytes(18).toString("base64url")}`;
}
