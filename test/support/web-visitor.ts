/** A visitor of the playground without a browser: keeps its cookie, speaks the JSON API, and listens to the live stream. */

import type { WirePage, WirePost, WireReception, WireRecord, WireState } from "../../src/adapters/web/wire.ts";

/** One answer of the server. */
export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** What a live stream has brought so far. */
export interface Listening {
  readonly records: WireRecord[];
  /** The id of the newest event, as the browser keeps it. */
  cursor: string;
  /** Resolves as soon as `enough` is true of the records. */
  until(enough: (records: readonly WireRecord[]) => boolean): Promise<readonly WireRecord[]>;
  leave(): void;
}

/** A person at the page. */
export class Visitor {
  readonly #address: string;
  #cookie = "";

  constructor(address: string) {
    this.#address = address;
  }

  /** The same person at another server. */
  at(address: string): Visitor {
    const twin = new Visitor(address);
    twin.#cookie = this.#cookie;
    return twin;
  }

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#cookie) headers.set("cookie", this.#cookie);
    return fetch(`${this.#address}${path}`, { ...init, headers });
  }

  async post<T = unknown>(path: string, body: unknown): Promise<Answer<T>> {
    const response = await this.request(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const cookie = response.headers.get("set-cookie");
    if (cookie) this.#cookie = cookie.split(";")[0] ?? "";
    return { status: response.status, body: (await response.json()) as T };
  }

  async get<T>(path: string): Promise<Answer<T>> {
    const response = await this.request(path);
    return { status: response.status, body: (await response.json()) as T };
  }

  /** Chooses a name and says who one is. */
  async enter(name: string): Promise<{ id: string; name: string }> {
    return (await this.post<{ id: string; name: string }>("/api/me", { name })).body;
  }

  state(): Promise<Answer<WireState>> {
    return this.get("/api/state");
  }

  posts(channelId: string): Promise<Answer<WirePage>> {
    return this.get(`/api/channels/${channelId}/posts`);
  }

  say(channelId: string, text: string, clientId: string, files: readonly string[] = []) {
    const body = { clientId, text, files };
    return this.post<{ post: WirePost; reception: WireReception; error?: string }>(
      `/api/channels/${channelId}/messages`,
      body,
    );
  }

  /** Opens the live stream after a cursor. */
  async listen(after: string): Promise<Listening> {
    const leaving = new AbortController();
    const response = await this.request("/api/stream", { headers: { "last-event-id": after }, signal: leaving.signal });
    if (!response.body) throw new Error(`no stream: ${response.status}`);
    const listening: Listening & { wake: () => void } = {
      records: [],
      cursor: after,
      wake: () => undefined,
      until: async (enough) => {
        while (!enough(listening.records)) {
          await new Promise<void>((resolve) => {
            listening.wake = resolve;
          });
        }
        return listening.records;
      },
      leave: () => leaving.abort(),
    };
    void read(response.body, listening).catch(() => undefined); // Ends when either side leaves.
    return listening;
  }
}

async function read(body: ReadableStream<Uint8Array>, listening: Listening & { wake: () => void }): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) take(event, listening);
    listening.wake();
  }
}

function take(event: string, listening: Listening): void {
  const fields = new Map(
    event.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  const id = fields.get("id");
  if (id) listening.cursor = id;
  if (fields.get("event") === "record") listening.records.push(JSON.parse(fields.get("data") ?? "") as WireRecord);
}
