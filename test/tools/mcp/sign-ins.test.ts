/** Signing in at servers that change, with a server that exists only in memory. */
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { expect, test } from "vitest";
import { type ConnectorSecrets, SecretValue } from "../../../src/engine/index.ts";
import { toDefinitions } from "../../../src/tools/mcp/definitions.ts";
import { createProvider } from "../../../src/tools/mcp/oauth.ts";
import { SignInNeededError } from "../../../src/tools/mcp/opened-client.ts";
import { SignIns } from "../../../src/tools/mcp/sign-ins.ts";
import { createMemoryKv } from "../../support/memory-kv.ts";

function memorySecrets(): ConnectorSecrets {
  const kept = new Map<string, SecretValue>();
  return {
    read: async () => null,
    keep: async (connector, key, value) => void kept.set(`${connector} ${key}`, value),
    kept: async (connector, key) => kept.get(`${connector} ${key}`) ?? null,
    forget: async (connector, key) => void kept.delete(`${connector} ${key}`),
  };
}
const none = () => undefined;
const log = { debug: none, info: none, warn: none, error: none, child: () => log };

test("after a change of the public address a new sign-in registers anew, while those who are signed in stay so", async () => {
  const secrets = memorySecrets();
  const client = { client_id: "old", redirect_uris: ["https://old.example.com/mcp/callback"] };
  await secrets.keep("it", "client", new SecretValue(JSON.stringify(client)));
  const parts = { connector: "it", personId: "p", secrets, kv: createMemoryKv(), onSecret: none };
  const flow = { state: "s", onAddress: none };
  const known = (baseUrl: string, begins: boolean) =>
    createProvider({ ...parts, baseUrl, ...(begins ? { flow } : {}) }).clientInformation();
  expect(await known("https://old.example.com", true)).toMatchObject({ client_id: "old" });
  expect(await known("https://new.example.com", true)).toBeUndefined();
  expect(await known("https://new.example.com", false)).toMatchObject({ client_id: "old" });
});

test("a new sign-in asks the server anew where people sign in", async () => {
  const kv = createMemoryKv();
  await kv.set("discovery:it", { authorizationServerUrl: "https://gone.example.com" });
  const [definition] = toDefinitions({ it: { url: "https://it.example.com/mcp" } });
  if (!definition) throw new Error("no definition");
  let known: unknown = "not asked";
  const signIns = new SignIns({
    ...{ kv, log, secrets: memorySecrets(), onSecrets: none, baseUrl: () => "https://me.example.com" },
    httpFor: () => async () => Response.error(),
    clock: { now: () => 0, delay: () => new Promise(none) },
    receive: async () => Promise.reject(new Error("not here")),
    async open({ auth }) {
      const provider = auth as OAuthClientProvider;
      known = await provider.discoveryState?.();
      await provider.redirectToAuthorization(new URL("https://new.example.com/authorize"));
      throw new SignInNeededError();
    },
  });
  expect(await signIns.begin(definition, "p")).toMatchObject({ ok: true, url: "https://new.example.com/authorize" });
  expect(known).toBeUndefined();
});
