/**
 * Signing in at a server (OAuth 2.1 as MCP has it: discovery, dynamic registration, PKCE, refresh) through the SDK's client provider. What it keeps is
 * sealed per connector and person. Invariant: tokens, codes and verifiers are in no log, prompt or plain row.
 */

import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { type ConnectorSecrets, type KeyValueStore, SecretValue } from "../../engine/index.ts";

/** What a provider of one person's sign-in needs. */
export interface ProviderParts {
  readonly connector: string;
  readonly personId: string;
  /** Public address of this server. */
  readonly baseUrl: string;
  /** An OAuth client registered by hand, for servers that register none themselves. */
  readonly registered?: { readonly clientId: string; readonly clientSecret?: string } | undefined;
  readonly secrets: ConnectorSecrets;
  readonly kv: KeyValueStore;
  /** Told of every value that must be masked from now on. */
  readonly onSecret: (values: readonly string[]) => void;
  /** Set while a person is signing in: the state of the address they open, and who is told that address. */
  readonly flow?: { readonly state: string; readonly onAddress: (address: URL) => void; readonly isAnew?: boolean };
}

/** The SDK's view of one person at one server. Without a flow nobody is sent anywhere: tokens are used and refreshed, or the server stays closed. */
export function createProvider(parts: ProviderParts): OAuthClientProvider {
  const { secrets, connector, personId, kv, flow, baseUrl } = parts;
  const sealed = createSealed(secrets, connector);
  return {
    redirectUrl: callbackUrl(baseUrl),
    clientMetadata: metadataFor(baseUrl),
    ...(baseUrl.startsWith("https:") ? { clientMetadataUrl: clientDocumentUrl(baseUrl) } : {}),
    state: () => flow?.state ?? "",
    async clientInformation() {
      const known = registeredClient(parts) ?? (await sealed.read<OAuthClientInformationMixed>("client"));
      return flow && known && isFromElsewhere(known, baseUrl) ? undefined : known;
    },
    saveClientInformation: (information) => sealed.write("client", information),
    ...createTokenKeeping(parts, sealed),
    async redirectToAuthorization(address) {
      if (flow) return flow.onAddress(address);
      // A call needs more than the person allowed: the next sign-in asks for it.
      const scope = address.searchParams.get("scope");
      if (scope) await kv.set(scopeKey(connector, personId), scope);
    },
    async saveCodeVerifier(verifier) {
      // Without a flow nobody comes back, and the one of a flow beside this must stay.
      if (flow) await secrets.keep(connector, `verifier:${personId}`, new SecretValue(verifier));
    },
    async codeVerifier() {
      const verifier = await secrets.kept(connector, `verifier:${personId}`);
      if (!verifier) throw new Error("The sign-in was not begun here.");
      return verifier.reveal();
    },
    saveDiscoveryState: (state) => kv.set(`discovery:${connector}`, state),
    discoveryState: async () =>
      ((await kv.get(`discovery:${connector}`)) ?? undefined) as OAuthDiscoveryState | undefined,
  };
}

/** Registered when this server had another public address: nobody would come back to it, so a sign-in that begins registers anew. */
function isFromElsewhere(known: OAuthClientInformationMixed, baseUrl: string): boolean {
  return (
    "redirect_uris" in known && known.redirect_uris.length > 0 && !known.redirect_uris.includes(callbackUrl(baseUrl))
  );
}

/** Sealed JSON of one connector. */
function createSealed(secrets: ConnectorSecrets, connector: string) {
  return {
    async read<T>(key: string): Promise<T | undefined> {
      const value = await secrets.kept(connector, key);
      return value ? (JSON.parse(value.reveal()) as T) : undefined;
    },
    write: (key: string, value: unknown) => secrets.keep(connector, key, new SecretValue(JSON.stringify(value))),
  };
}

function registeredClient({ registered }: ProviderParts): OAuthClientInformationMixed | undefined {
  if (!registered) return undefined;
  const { clientId, clientSecret } = registered;
  return { client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) };
}

type TokenKeeping = Required<Pick<OAuthClientProvider, "tokens" | "saveTokens" | "invalidateCredentials">>;

function createTokenKeeping(parts: ProviderParts, sealed: ReturnType<typeof createSealed>): TokenKeeping {
  const { secrets, connector, personId, kv, flow } = parts;
  let used: string | undefined;
  return {
    async tokens() {
      if (flow?.isAnew) return undefined;
      const tokens = await sealed.read<OAuthTokens>(tokensKey(personId));
      if (tokens) parts.onSecret(valuesIn(tokens));
      used = tokens?.access_token;
      return tokens;
    },
    async saveTokens(tokens) {
      parts.onSecret(valuesIn(tokens));
      await sealed.write(tokensKey(personId), tokens);
    },
    async invalidateCredentials(scope) {
      const all = scope === "all";
      // Newer tokens than those that were refused may have come meanwhile.
      const now = all || scope === "tokens" ? await sealed.read<OAuthTokens>(tokensKey(personId)) : undefined;
      if (now && now.access_token === used) await secrets.forget(connector, tokensKey(personId));
      if (all || scope === "client") await secrets.forget(connector, "client");
      if (all || scope === "verifier") await secrets.forget(connector, `verifier:${personId}`);
      if (all || scope === "discovery") await kv.delete(`discovery:${connector}`);
    },
  };
}

/** Where it is kept what a person must allow beyond what they did. */
export function scopeKey(connector: string, personId: string): string {
  return `scope:${connector}:${personId}`;
}

/** Where browsers come back to. */
export function callbackUrl(baseUrl: string): string {
  return `${baseUrl}/mcp/callback`;
}

/** Where this server says who it is, for sign-in servers that take an address for a client's id. */
export function clientDocumentUrl(baseUrl: string): string {
  return `${baseUrl}/mcp/client.json`;
}

/** What stands there. */
export function clientDocument(baseUrl: string): Readonly<Record<string, unknown>> {
  return { client_id: clientDocumentUrl(baseUrl), client_uri: baseUrl, ...metadataFor(baseUrl) };
}

/** Begins a sign-in for this scope; the flow of the provider hears the address. Rejects when the server does not offer it. */
export async function askForScope(
  provider: OAuthClientProvider,
  request: { readonly serverUrl: string; readonly scope: string; readonly http: typeof fetch },
): Promise<void> {
  const { auth } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const { serverUrl, scope, http } = request;
  await auth(provider, { serverUrl, scope, fetchFn: http });
}

/** Where a person's tokens for a connector are kept. */
export function tokensKey(personId: string): string {
  return `tokens:${personId}`;
}

/** Exchanges the code that the browser brought back. Rejects when the server does not take it. */
export async function exchangeCode(
  provider: OAuthClientProvider,
  request: { readonly serverUrl: string; readonly code: string; readonly http: typeof fetch },
): Promise<void> {
  const { auth } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const { serverUrl, code, http } = request;
  await auth(provider, { serverUrl, authorizationCode: code, fetchFn: http });
}

function metadataFor(baseUrl: string): OAuthClientMetadata {
  return {
    client_name: "Parley",
    redirect_uris: [callbackUrl(baseUrl)],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

function valuesIn({ access_token, refresh_token, id_token }: OAuthTokens): readonly string[] {
  return [access_token, refresh_token, id_token].filter((value) => value !== undefined);
}
