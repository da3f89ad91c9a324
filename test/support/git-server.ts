/**
 * Git repositories over HTTP on this machine, served by git's own program, so that fetching is tried as it is on the internet. Invariant: a repository is made from
 * files that the test writes; the server's own environment does not reach git.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** File path → content. */
export type FileTree = Readonly<Record<string, string | Buffer>>;

/** A running server. */
export interface GitServer extends AsyncDisposable {
  readonly url: string;
  /** Makes the repository, or one more commit that holds exactly these files; gives its commit. */
  commit(name: string, files: FileTree): string;
  /** Git in the work tree of a repository, for what files alone cannot say. */
  git(name: string, ...args: readonly string[]): string;
  /** From now on requests are taken and never answered. */
  hang(): void;
  /** Requests so far. */
  readonly requests: readonly string[];
}

/** Starts a server; `await using` closes it. */
export async function startGitServer(): Promise<GitServer> {
  const folder = mkdtempSync(join(tmpdir(), "parley-git-"));
  const requests: string[] = [];
  let hangs = false;
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (!hangs) serve(folder, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const run = (name: string, args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
      cwd: join(folder, `${name}.tree`),
      env: { PATH: process.env.PATH ?? "", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    commit(name, files) {
      const tree = join(folder, `${name}.tree`);
      mkdirSync(tree, { recursive: true });
      run(name, ["init", "--quiet", "--initial-branch=main"]);
      run(name, ["rm", "-r", "-f", "--quiet", "--ignore-unmatch", "."]);
      writeTree(tree, files);
      run(name, ["add", "-A", "-f"]);
      run(name, ["commit", "--quiet", "--allow-empty", "-m", "files of the test"]);
      return run(name, ["rev-parse", "HEAD"]);
    },
    git: (name, ...args) => run(name, args),
    hang() {
      hangs = true;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Writes files below a folder. */
export function writeTree(folder: string, files: FileTree): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** `/name.git/...` is the repository in `<folder>/name.tree`. */
function serve(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://localhost");
  const [, name = "", rest = ""] = /^\/([\w-]+)\.git(\/.*)$/.exec(url.pathname) ?? [];
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH ?? "",
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_COUNT: "2",
      GIT_CONFIG_KEY_0: "uploadpack.allowAnySHA1InWant",
      GIT_CONFIG_VALUE_0: "true",
      GIT_CONFIG_KEY_1: "safe.directory",
      GIT_CONFIG_VALUE_1: "*",
      PATH_INFO: `/${name}.tree/.git${rest}`,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.on("close", () => answer(Buffer.concat(chunks), response));
}

/** What a CGI program wrote: headers, an empty line, the body. */
function answer(output: Buffer, response: ServerResponse): void {
  const end = output.indexOf("\r\n\r\n");
  const lines = output.subarray(0, Math.max(0, end)).toString("latin1").split("\r\n");
  const headers = lines.map((line) => line.split(/:\s*/, 2) as [string, string]).filter(([key]) => key !== "");
  const status = Number(
    headers.find(([key]) => key.toLowerCase() === "status")?.[1]?.slice(0, 3) ?? (end < 0 ? 500 : 200),
  );
  response.writeHead(status, Object.fromEntries(headers.filter(([key]) => key.toLowerCase() !== "status")));
  response.end(output.subarray(end + 4));
}
