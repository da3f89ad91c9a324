/**
 * Who is signed in where (SPEC P2, G11), and which connectors administrators have switched on or shared: kept in the database, so every process knows.
 * A sign-in begins with an address for one person, carries a state that only its browser knows, and is used once.
 */

import { createHash, randomBytes } from "node:crypto";
import type {
  Clock,
  ConnectorSecrets,
  ConversationRef,
  KeyValueStore,
  Log,
  PersonRef,
  Receive,
} from "../../engine/index.ts";
import type { ConnectionAccount } from "./connection-parts.ts";
import { type ConnectorDefinition, SETTINGS } from "./definitions.ts";
import { askForScope, createProvider, exchangeCode, scopeKey, tokensKey } from "./oauth.ts";
import { type OpenClient, type OpenRequest, SignInNeededError } from "./opened-client.ts";
import { withLimit } from "./pace.ts";

/** What sign-ins need. */
export interface SignInParts {
  readonly kv: KeyValueStore;
  readonly secrets: ConnectorSecrets;
  /** Public address of this server without trailing slash; "" when browsers elsewhere cannot come back to it. */
  readonly baseUrl: () => string;
  readonly httpFor: (definition: ConnectorDefinition) => OpenRequest["http"];
  readonly open: OpenClient;
  readonly receive: Receive;
  /** New values to mask are known. */
  readonly onSecrets: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** The card that a sign-in belongs to: answered for the person when they come back. */
export interface SignInCard {
  readonly cardId: string;
  readonly installationId: string;
  readonly conversation: ConversationRef;
  readonly person: PersonRef;
}

/** A connector a person has signed in to. `since` changes with each sign-in. */
export interface OwnAccount {
  readonly definition: ConnectorDefinition;
  readonly since: string;
  readonly auth: unknown;
}

interface FlowRow extends SignInCard {
  readonly connector: string;
  readonly at: number;
}

/** Longest time from the card to the browser's return, ms. */
export const SIGN_IN_MS = 15 * 60_000;
const OPEN_MS = 30_000;

/** One per process. */
export class SignIns {
  readonly #parts: SignInParts;
  readonly #values = new Set<string>();

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /** Every token seen so far, to be masked. */
  secrets(): readonly string[] {
    return [...this.#values];
  }

  async isEnabled(definition: ConnectorDefinition): Promise<boolean> {
    const chosen = await this.#parts.kv.get(`enabled:${definition.id}`);
    return typeof chosen === "boolean" ? chosen : definition.isEnabled;
  }

  /** What an administrator chose; only plugins' connectors can be switched on that way, those of the settings have their own key. */
  async setEnabled(definition: ConnectorDefinition, isEnabled: boolean): Promise<void> {
    await this.#parts.kv.set(`enabled:${definition.id}`, isEnabled);
  }

  /** The account everybody uses, when an administrator shared one. */
  async sharedAccount(definition: ConnectorDefinition): Promise<ConnectionAccount> {
    const personId = await this.sharedBy(definition.id);
    return personId ? { auth: this.#provider(definition, personId) } : {};
  }

  /** Whose sign-in everybody uses; undefined when nobody's. */
  async sharedBy(connector: string): Promise<string | undefined> {
    const row = (await this.#parts.kv.get(`shared:${connector}`)) as { personId: string } | null | undefined;
    return row?.personId;
  }

  async share(connector: string, personId: string | undefined): Promise<void> {
    if (personId) await this.#parts.kv.set(`shared:${connector}`, { personId });
    else await this.#parts.kv.delete(`shared:${connector}`);
  }

  /** Connectors this person has signed in to, with what opens them. */
  async accountsOf(personId: string, definitions: readonly ConnectorDefinition[]): Promise<readonly OwnAccount[]> {
    const prefix = `signed-in:${personId}:`;
    const rows = await this.#parts.kv.list({ prefix, limit: 200 });
    const since = new Map(rows.map(({ key, value }) => [key.slice(prefix.length), String(value)]));
    return definitions.flatMap((definition) => {
      const at = since.get(definition.id);
      return at === undefined ? [] : [{ definition, since: at, auth: this.#provider(definition, personId) }];
    });
  }

  /** Public address of this server, or "". */
  get baseUrl(): string {
    return this.#parts.baseUrl();
  }

  /** Begins a sign-in: the address to open, a way to bind it to its card, or why there is none (for the model). */
  async begin(
    definition: ConnectorDefinition,
    personId: string,
  ): Promise<
    | { readonly ok: true; readonly url: string; readonly bind: (card: SignInCard) => Promise<void> }
    | { readonly ok: false; readonly text: string }
  > {
    const { address, id } = definition;
    if (address.kind !== "remote") return { ok: false, text: `${id} is a local program; nobody signs in there.` };
    if (!this.#parts.baseUrl())
      return {
        ok: false,
        text: "Signing in needs web.publicUrl, so that the browser finds its way back. An administrator can set it.",
      };
    const state = randomBytes(32).toString("base64url");
    let found: URL | undefined;
    const onAddress = (url: URL) => {
      found = url;
    };
    // Where people sign in may have moved since somebody last did.
    await this.#parts.kv.delete(`discovery:${id}`);
    const scope = await this.#parts.kv.get(scopeKey(id, personId));
    const failure =
      typeof scope === "string"
        ? await this.#widen(definition, this.#provider(definition, personId, { state, onAddress, isAnew: true }), scope)
        : await this.#knock(definition, this.#provider(definition, personId, { state, onAddress }));
    if (!found || !/^https?:$/.test(found.protocol))
      return { ok: false, text: failure ?? `${id} does not ask anybody to sign in.` };
    const bind = (card: SignInCard) =>
      this.#parts.kv.set(flowKey(state), { ...card, connector: id, at: this.#parts.clock.now() } satisfies FlowRow);
    return { ok: true, url: found.href, bind };
  }

  /** The browser came back: keeps the tokens and answers the card. The text is for the person, on the page they see. */
  async finish(
    query: URLSearchParams,
    definitionOf: (id: string) => ConnectorDefinition | undefined,
  ): Promise<{ readonly ok: boolean; readonly text: string }> {
    const state = query.get("state") ?? "";
    const row = (await this.#parts.kv.get(flowKey(state))) as FlowRow | null | undefined;
    const isFresh = row && this.#parts.clock.now() - row.at < SIGN_IN_MS;
    // Used once, also by two requests at the same instant: only one of them may insert the mark.
    if (!row || !isFresh || !(await this.#parts.kv.insert(`used:${flowKey(state)}`, true)))
      return { ok: false, text: "This sign-in was used already or has expired. Ask the bot to connect it again." };
    await this.#parts.kv.delete(flowKey(state));
    const definition = definitionOf(row.connector);
    const code = query.get("code");
    if (definition?.address.kind !== "remote" || !code)
      return { ok: false, text: "The sign-in was not completed there. Ask the bot to connect it again." };
    try {
      const http = this.#parts.httpFor(definition) as typeof fetch;
      const serverUrl = definition.address.url;
      const provider = this.#provider(definition, row.person.id);
      await withLimit(this.#parts.clock, OPEN_MS, () => exchangeCode(provider, { serverUrl, code, http }));
    } catch (error) {
      this.#parts.log.warn({ connector: row.connector, error: String(error) }, "a sign-in was not completed");
      return { ok: false, text: "The server did not accept the sign-in. Ask the bot to connect it again." };
    }
    await this.#parts.kv.set(`signed-in:${row.person.id}:${row.connector}`, this.#parts.clock.now());
    await this.#parts.kv.delete(scopeKey(row.connector, row.person.id));
    await this.#answer(row, state);
    return { ok: true, text: "You are signed in. You can close this page and go back to the conversation." };
  }

  /** Forgets a person's tokens; also ends sharing them. */
  async disconnect(definition: ConnectorDefinition, personId: string): Promise<void> {
    await this.#parts.secrets.forget(definition.id, tokensKey(personId));
    await this.#parts.kv.delete(`signed-in:${personId}:${definition.id}`);
    if ((await this.sharedBy(definition.id)) === personId) await this.share(definition.id, undefined);
  }

  /** Asks the server without tokens, which makes it say where people sign in. Undefined, or why that failed. */
  async #knock(definition: ConnectorDefinition, auth: unknown): Promise<string | undefined> {
    const { open, httpFor, clock, log } = this.#parts;
    const { id, address } = definition;
    try {
      const nobody = { onListChanged: () => undefined, onElicitation: async () => ({ action: "cancel" as const }) };
      await withLimit(clock, OPEN_MS, async (signal) => {
        const http = httpFor(definition);
        const client = await open({ id, address, values: {}, roots: [], http, auth, signal, log, ...nobody });
        // Some servers greet everybody and ask for a sign-in only then.
        await client.listTools(signal).finally(() => client.close());
      });
      return `${definition.id} lets in without signing in, or is signed in already.`;
    } catch (error) {
      if (error instanceof SignInNeededError) return undefined;
      this.#parts.log.warn({ connector: definition.id, error: String(error) }, "a sign-in could not be begun");
      return `The sign-in at ${definition.id} could not be begun: the server does not offer it as it should.`;
    }
  }

  /** Asks for a sign-in that allows more than the one there is. Undefined, or why that failed. */
  async #widen(
    definition: ConnectorDefinition,
    provider: ReturnType<typeof createProvider>,
    scope: string,
  ): Promise<string | undefined> {
    if (definition.address.kind !== "remote") return undefined;
    const http = this.#parts.httpFor(definition) as typeof fetch;
    const serverUrl = definition.address.url;
    try {
      await withLimit(this.#parts.clock, OPEN_MS, () => askForScope(provider, { serverUrl, scope, http }));
      return undefined;
    } catch (error) {
      this.#parts.log.warn({ connector: definition.id, error: String(error) }, "a wider sign-in could not be begun");
      return `The sign-in at ${definition.id} could not be begun: the server does not offer it as it should.`;
    }
  }

  /** As if the person had pressed Done: the card is redrawn and the bot told, in one step. */
  async #answer(row: FlowRow, state: string): Promise<void> {
    const { cardId, installationId, conversation, person } = row;
    const dedupeKey = flowKey(state);
    await this.#parts.receive({
      type: "answer",
      dedupeKey,
      installationId,
      conversation,
      at: new Date(this.#parts.clock.now()),
      from: person,
      cardId,
      choices: ["done"],
    });
  }

  #provider(definition: ConnectorDefinition, personId: string, flow?: Parameters<typeof createProvider>[0]["flow"]) {
    const onSecret = (values: readonly string[]) => {
      const before = this.#values.size;
      for (const value of values) this.#values.add(value);
      if (this.#values.size > before) this.#parts.onSecrets();
    };
    const { secrets, kv } = this.#parts;
    const baseUrl = this.#parts.baseUrl();
    const { id: connector, registered } = definition;
    const facts = { connector, personId, baseUrl, registered, secrets, kv, onSecret };
    return createProvider(flow ? { ...facts, flow } : facts);
  }
}

/** True for connectors whose on and off an administrator decides in a conversation. */
export function isSwitchable({ source }: ConnectorDefinition): boolean {
  return source !== SETTINGS;
}

function flowKey(state: string): string {
  return `sign-in:${createHash("sha256").update(state).digest("hex")}`;
}
