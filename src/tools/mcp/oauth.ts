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
  readonly redirectUrl: string;
  readonly secrets: ConnectorSecrets;
  readonly kv: KeyValueStore;
  /** Told of every value that must be masked from now on. */
  readonly onSecret: (values: readonly string[]) => void;
  /** Set while a person is signing in: the state of the address they open, and who is told that address. */
  readonly flow?: { readonly state: string; readonly onAddress: (address: URL) => void };
}

/** The SDK's view of one person at one server. Without a flow nobody is sent anywhere: tokens are used and refreshed, or the server stays closed. */
export function createProvider(parts: ProviderParts): OAuthClientProvider {
  const { secrets, connector, personId, kv, flow } = parts;
  const read = async <T>(key: string): Promise<T | undefined> => {
    const value = await secrets.kept(connector, key);
    return value ? (JSON.parse(value.reveal()) as T) : undefined;
  };
  const write = (key: string, value: unknown) => secrets.keep(connector, key, new SecretValue(JSON.stringify(value)));
  return {
    redirectUrl: parts.redirectUrl,
    clientMetadata: metadataFor(parts.redirectUrl),
    state: () => flow?.state ?? "",
    clientInformation: () => read<OAuthClientInformationMixed>("client"),
    saveClientInformation: (information) => write("client", information),
    async tokens() {
      const tokens = await read<OAuthTokens>(tokensKey(personId));
      if (tokens) parts.onSecret(valuesIn(tokens));
      return tokens;
    },
    async saveTokens(tokens) {
      parts.onSecret(valuesIn(tokens));
      await write(tokensKey(personId), tokens);
    },
    redirectToAuthorization: (address) => flow?.onAddress(address),
    saveCodeVerifier: (verifier) => secrets.keep(connector, `verifier:${personId}`, new SecretValue(verifier)),
    async codeVerifier() {
      const verifier = await secrets.kept(connector, `verifier:${personId}`);
      if (!verifier) throw new Error("The sign-in was not begun here.");
      return verifier.reveal();
    },
    saveDiscoveryState: (state) => kv.set(`discovery:${connector}`, state),
    discoveryState: async () =>
      ((await kv.get(`discovery:${connector}`)) ?? undefined) as OAuthDiscoveryState | undefined,
    async invalidateCredentials(scope) {
      const all = scope === "all";
      if (all || scope === "tokens") await secrets.forget(connector, tokensKey(personId));
      if (all || scope === "client") await secrets.forget(connector, "client");
      if (all || scope === "verifier") await secrets.forget(connector, `verifier:${personId}`);
      if (all || scope === "discovery") await kv.delete(`discovery:${connector}`);
    },
  };
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

function metadataFor(redirectUrl: string): OAuthClientMetadata {
  return {
    client_name: "Parley",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

function valuesIn({ access_token, refresh_token, id_token }: OAuthTokens): readonly string[] {
  return [access_token, refresh_token, id_token].filter((value) => value !== undefined);
}
