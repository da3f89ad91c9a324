/**
 * The page itself and its assets, as the build left them in dist/adapters/web/public.
 * Invariant: only files that were listed at the first request are served, by exact name, so no path can climb out; assets carry a hash in their
 * name and are cached for ever, the page itself is checked each time. The policy allows no inline script and no other origin.
 */

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".map": "application/json",
  ".webmanifest": "application/manifest+json",
};

interface Asset {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** Serves the built page. */
export class Page {
  readonly #folders: readonly string[];
  #loaded: Promise<ReadonlyMap<string, Asset>> | undefined;

  /** `folder` replaces the places where a build normally lies. */
  constructor(folder?: string) {
    this.#folders = folder ? [folder] : BUILT;
  }

  /** GET / */
  async index(request: Request): Promise<Response> {
    const asset = (await this.#assets()).get("index.html");
    if (!asset) return notBuilt();
    const etag = `"${createHash("sha256").update(asset.body).digest("hex").slice(0, 20)}"`;
    const headers = {
      "cache-control": "no-cache",
      "content-security-policy": POLICY,
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      etag,
    };
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
    return new Response(asset.body, { headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
  }

  /** GET /assets/<file> */
  async asset(name: string): Promise<Response> {
    const asset = (await this.#assets()).get(`assets/${name}`);
    if (!asset)
      return new Response("There is no such file.", { status: 404, headers: { "content-type": "text/plain" } });
    return new Response(asset.body, {
      headers: {
        "content-type": asset.type,
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
      },
    });
  }

  /** A build that is not there yet is looked for again at the next request. */
  async #assets(): Promise<ReadonlyMap<string, Asset>> {
    this.#loaded ??= loadFirst(this.#folders);
    const assets = await this.#loaded;
    if (assets.size === 0) this.#loaded = undefined;
    return assets;
  }
}

/** Beside the compiled adapter, or, when run from source, where the build puts it. */
const BUILT: readonly string[] = [
  fileURLToPath(new URL("./public", import.meta.url)),
  fileURLToPath(new URL("../../../dist/adapters/web/public", import.meta.url)),
];

async function loadFirst(folders: readonly string[]): Promise<ReadonlyMap<string, Asset>> {
  for (const folder of folders) {
    const assets = await load(folder);
    if (assets.has("index.html")) return assets;
  }
  return new Map();
}

async function load(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  const names = ["index.html", ...(await listed(join(folder, "assets"))).map((name) => `assets/${name}`)];
  for (const name of names) {
    const body = await readFile(join(folder, name)).catch(() => null); // Absent means: not built here.
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    if (body) assets.set(name, { body: new Uint8Array(body), type });
  }
  return assets;
}

async function listed(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // Absent means: not built here.
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

function notBuilt(): Response {
  const text =
    "<!doctype html><html lang=en><title>Parley</title><p>The page has not been built. Run <code>npm run build</code>.</p></html>";
  return new Response(text, { status: 503, headers: { "content-type": "text/html; charset=utf-8" } });
}
