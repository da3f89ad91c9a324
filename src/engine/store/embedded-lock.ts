/**
 * Claims a directory for one process by listening on a unix socket inside it. The kernel lets go of the socket when the process dies,
 * however it dies, so a socket that refuses connections is always a leftover. It is also the socket the database is served on.
 * Invariant: at most one process holds a directory, even when several start at the same instant over a leftover: every claim uses a
 * name of its own, is bound before it looks at the others, and only ever removes names that no process listens on.
 */
import { createHash, randomInt } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ConfigError } from "../errors.ts";

/** Another process lives in this database directory. `pid` is its process id when it could be read. */
export class DatabaseInUseError extends ConfigError {
  readonly directory: string;
  readonly pid: number | undefined;
  constructor(directory: string, pid: number | undefined) {
    const holder = pid === undefined ? "another process" : `process ${pid}`;
    super(
      `storage.dir: the embedded database in ${directory} is in use by ${holder}. ` +
        "Stop that process, give this one a storage.dir of its own, or set DATABASE_URL to a PostgreSQL server that both may use.",
    );
    this.directory = directory;
    this.pid = pid;
  }
}

/** A directory that this process holds until `release` or its end. */
export interface DirectoryClaim {
  /** Hands over every connection: those made so far, which have waited, and those to come. */
  serve(accept: (socket: Socket) => void): void;
  /** Directory to name as `host` to PostgreSQL clients; short enough for a socket path. */
  readonly host: string;
  /** The number in the socket's name, which PostgreSQL clients call its port. */
  readonly port: number;
  /** Drops all connections, removes the socket and lets the next process in. */
  release(): Promise<void>;
}

interface Doorway {
  server: Server;
  waiting: Socket[];
  open: Set<Socket>;
  accept: ((socket: Socket) => void) | undefined;
}

interface Rival {
  port: number;
  state: "starting" | "held" | "unknown";
  pid: number | undefined;
}

/** Room in a unix socket address is 108 bytes on Linux and 104 on macOS, end mark included. */
const longestSocketPath = 100;
const probeMs = 2_000;
const claimMs = 15_000;
const socketName = (port: number) => `.s.PGSQL.${port}`;
const noteName = (port: number) => `${socketName(port)}.lock`;
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/**
 * Makes `directory` (mode 0700) if needed and claims it. Throws DatabaseInUseError when another process holds it, ConfigError when
 * the directory or the system cannot have unix sockets.
 */
export async function claimDirectory(directory: string): Promise<DirectoryClaim> {
  const home = resolve(directory);
  await preparePrivateDirectory(home);
  const host = await shortPathTo(home);
  const doorway = openDoorway();
  const port = await bindOwnSocket(doorway.server, home, host);
  const serve = (accept: (socket: Socket) => void) => {
    doorway.accept = accept;
    for (const socket of doorway.waiting.splice(0)) if (!socket.destroyed) accept(socket);
  };
  const release = async () => {
    for (const socket of doorway.open) socket.destroy();
    await new Promise<void>((done) => doorway.server.close(() => done()));
    await rm(join(home, noteName(port)), { force: true });
  };
  try {
    await outlastRivals(home, host, port);
    await writeNote(home, port, "held");
    // A rival may have looked in the instant between bind and listen and taken this socket for a leftover.
    if (await isListenedOn(join(host, socketName(port)))) return { host, port, serve, release };
  } catch (error) {
    await release();
    throw error;
  }
  await release();
  return claimDirectory(directory);
}

async function preparePrivateDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") {
    throw new ConfigError(
      "The embedded database needs unix sockets, which Node does not offer on Windows. Set DATABASE_URL, or run inside WSL.",
    );
  }
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    if (((await stat(directory)).mode & 0o077) !== 0) await chmod(directory, 0o700);
  } catch (error) {
    throw new ConfigError(
      `storage.dir: the directory ${directory} cannot be made private to this user (${codeOf(error)}). Choose one that this user owns.`,
      { cause: error },
    );
  }
}

/**
 * The directory itself, or for a path too long for a socket address a short link to it. The socket still lies in the directory,
 * so processes that reach it by different paths see each other. The links' own folder must be ours: others could point them elsewhere.
 */
async function shortPathTo(directory: string): Promise<string> {
  if (Buffer.byteLength(join(directory, socketName(99_999))) <= longestSocketPath) return directory;
  const folder = join(tmpdir(), `parley-${userInfo().uid}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== userInfo().uid || (found.mode & 0o077) !== 0) {
    throw new ConfigError(
      `The folder ${folder} belongs to someone else or is open to others. Remove it, or use a shorter storage.dir.`,
    );
  }
  const link = join(folder, createHash("sha256").update(directory).digest("hex").slice(0, 12));
  const fresh = `${link}.${process.pid}.${randomInt(1e9)}`;
  await symlink(directory, fresh);
  await rename(fresh, link);
  if (Buffer.byteLength(join(link, socketName(99_999))) > longestSocketPath) {
    throw new ConfigError(
      `Both storage.dir and the temporary folder ${tmpdir()} have paths too long for a socket. Shorten one of them.`,
    );
  }
  return link;
}

/** Connections that come before anybody serves them are kept: a socket without a reader would never notice that its peer left. */
function openDoorway(): Doorway {
  const doorway: Doorway = { server: createServer(), waiting: [], open: new Set(), accept: undefined };
  doorway.server.on("connection", (socket) => {
    doorway.open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => doorway.open.delete(socket));
    if (doorway.accept === undefined) doorway.waiting.push(socket);
    else doorway.accept(socket);
  });
  return doorway;
}

async function bindOwnSocket(server: Server, home: string, host: string): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 65_000);
    try {
      await writeNote(home, port, "starting", "wx");
      await listen(server, join(host, socketName(port)));
      return port;
    } catch (error) {
      if (codeOf(error) === "EEXIST" || codeOf(error) === "EADDRINUSE") continue;
      await rm(join(home, noteName(port)), { force: true });
      throw new ConfigError(
        `storage.dir: no socket can be made in ${home} (${codeOf(error)}). Use a directory on a local disk, or set DATABASE_URL.`,
        { cause: error },
      );
    }
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** The note beside a socket says who made it; only messages and ties depend on it, never the claim itself. */
async function writeNote(home: string, port: number, state: "starting" | "held", flag = "w"): Promise<void> {
  await writeFile(join(home, noteName(port)), `${process.pid}\n${state}\n`, { flag, mode: 0o600 });
}

async function readNote(home: string, port: number): Promise<Rival> {
  const lines = await readFile(join(home, noteName(port)), "utf8").then(
    (text) => text.split("\n"),
    () => [],
  );
  const state = lines[1] === "starting" || lines[1] === "held" ? lines[1] : "unknown";
  return { port, state, pid: Number(lines[0]) || undefined };
}

/** Returns once no other living socket is there. Of processes that start at the same time the one with the lowest number stays. */
async function outlastRivals(home: string, host: string, own: number): Promise<void> {
  const deadline = Date.now() + claimMs;
  for (;;) {
    const rivals = await livingRivals(home, host, own);
    const first = rivals[0];
    if (first === undefined) return;
    const winner = rivals.find((rival) => rival.state !== "starting" || rival.port < own);
    if (winner !== undefined) throw new DatabaseInUseError(home, winner.pid);
    if (Date.now() > deadline) throw new DatabaseInUseError(home, first.pid);
    await delay(20);
  }
}

async function livingRivals(home: string, host: string, own: number): Promise<Rival[]> {
  const ports = (await readdir(home))
    .map((name) => Number(/^\.s\.PGSQL\.(\d+)$/.exec(name)?.[1] ?? Number.NaN))
    .filter((port) => !Number.isNaN(port) && port !== own);
  const rivals: Rival[] = [];
  for (const port of ports) {
    if (await isListenedOn(join(host, socketName(port)))) {
      rivals.push(await readNote(home, port));
    } else {
      await rm(join(home, socketName(port)), { force: true });
      await rm(join(home, noteName(port)), { force: true });
    }
  }
  return rivals;
}

/** False only when the system says that nobody listens there; every doubt counts as a living process. */
function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (alive: boolean) => {
      socket.destroy();
      resolve(alive);
    };
    socket.setTimeout(probeMs, () => finish(true));
    socket.once("connect", () => finish(true));
    socket.once("error", (error) => finish(codeOf(error) !== "ECONNREFUSED" && codeOf(error) !== "ENOENT"));
  });
}
