/** Secrets, files and addresses: what must not get out does not, what must not be reached is not, and the model is told why. */
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, done, type LlmRequest, sendMessage } from "../emulators/llm/index.ts";
import { type HttpsHost, makeCertificate, startHttpsHost } from "../engine/net/https-host.ts";
import { echo, heard } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

/** A script that sends an attachment once per person message. */
const attaching = (url: string) => (request: LlmRequest) =>
  request.lastRole === "user"
    ? call("SendMessage", { type: "attachment", url })
    : request.callsThisTurn.length === 1
      ? sendMessage(`no ${url}`)
      : done();

describe("secrets", () => {
  const canary = `canary-${crypto.randomUUID()}`;
  const encoded = Buffer.from(canary).toString("base64");
  const wanted = { label: "GitHub token", connector: "github", field: "token" };
  const script = (request: LlmRequest) => {
    if (request.lastRole !== "user") return done();
    const words = heard(request);
    if (words.includes("set it up")) return call("SendMessage", { type: "secret-request", secret: wanted });
    return sendMessage(
      words.includes("print it") ? `${canary} ${encoded} ${encodeURIComponent(`${canary}/x`)}` : "stored, thanks",
    );
  };

  /** Nobody but the vault has it: not Slack, not the model, no table, no log line; and the bot cannot say it. */
  async function expectHidden(world: World): Promise<void> {
    await world.quiet();
    const rows = await dump(world);
    const asked = world.llm.requests.map(({ raw }) => raw).join("");
    const printed = await world.answer(world.dm("Alice", "print it"));
    await world.quiet();
    const sent = JSON.stringify(world.slack.requests.map(({ args }) => args));
    for (const place of [rows, asked, printed.text, sent, world.logs.join("")]) {
      expect(place.includes(canary) || place.includes(encoded)).toBe(false);
    }
  }

  test(
    "a value typed into Slack's form is stored, and masked in everything that is said afterwards",
    async () => {
      await using world = await startWorld();
      world.script("Ada", script);
      const alice = world.person("Alice");
      const asked = world.dm("Alice", "set it up");
      const card = await world.answer(asked);
      await world.slack.press(alice, card, "Enter it privately");
      await world.slack.waitForModal(alice);
      await world.slack.submit(alice, { Secret: canary });
      await world.until(() => world.answers(asked).some((post) => post.text === "stored, thanks"), "the thanks");
      await expectHidden(world);
    },
    START_MS,
  );

  test(
    "where people can reach the server, a one-time link to a masked form is offered instead",
    async () => {
      await using world = await startWorld({ settings: { web: { port: 0, publicUrl: "http://localhost" } } });
      world.script("Ada", script);
      const asked = world.dm("Alice", "set it up");
      const card = await world.answer(asked);
      await world.slack.press(world.person("Alice"), card, "Enter it privately");
      const path = await world.until(() => linkFor(world), "a private link");
      const link = `${world.url()}${path}`;
      expect(await (await fetch(link)).text()).toContain('type="password"');
      expect((await fetch(link, { method: "POST", body: new URLSearchParams({ value: canary }) })).status).toBe(200);
      expect((await fetch(link)).status).toBe(410);
      await world.until(() => world.answers(asked).some((post) => post.text === "stored, thanks"), "the thanks");
      await expectHidden(world);
    },
    START_MS,
  );
});

/** The path of the one-time link in Alice's private notice. */
function linkFor(world: World): string | undefined {
  const notices = JSON.stringify(world.slack.noticesFor(world.person("Alice")).map(({ blocks }) => blocks));
  return /"http:\/\/localhost(\/s\/[\w-]+)"/.exec(notices)?.[1];
}

/** Every row of every table, as text. */
async function dump(world: World): Promise<string> {
  const tables = await world
    .database()
    .rows<{ name: string }>(`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`);
  const all = await Promise.all(
    tables.map(({ name }) => world.database().rows<{ row: string }>(`SELECT t::text AS row FROM "${name}" t`)),
  );
  return all
    .flat()
    .map(({ row }) => row)
    .join("\n");
}

describe("addresses and files", () => {
  let world: World;
  let host: HttpsHost;
  const reached: string[] = [];
  const certificates = mkdtempSync(join(tmpdir(), "parley-ca-"));
  beforeAll(async () => {
    const certificate = makeCertificate();
    writeFileSync(join(certificates, "ca.pem"), certificate.cert);
    host = await startHttpsHost(certificate, (request, response) => {
      reached.push(request.url ?? "");
      const to = new URL(request.url ?? "/", "https://host").searchParams.get("to");
      if (to) response.writeHead(302, { location: to }).end();
      else response.writeHead(200, { "content-type": "text/plain" }).end("file content");
    });
    world = await startWorld({
      process: "own",
      settings: { net: { allowPrivateHosts: ["localhost"] } },
      env: { TZ: "Europe/Madrid", NODE_EXTRA_CA_CERTS: join(certificates, "ca.pem") },
    });
  }, START_MS);
  afterAll(async () => {
    await world.close();
    await host.close();
    rmSync(certificates, { recursive: true });
  });

  test("a file of a host that is let through is sent as a file", async () => {
    world.script("Ada", attaching(`https://localhost:${host.port}/notes.txt`));
    const answer = await world.answer(world.dm("Alice", "the notes"));
    expect(answer.files.map((file) => file.bytes.toString())).toEqual(["file content"]);
  });

  test.each([
    ["this machine", "https://127.0.0.1:PORT/inner"],
    ["the address of cloud metadata", "https://169.254.169.254/latest/meta-data"],
    ["this machine, through a redirect", "https://localhost:PORT/go?to=https://127.0.0.1:PORT/inner"],
    ["cloud metadata, through a redirect", "https://localhost:PORT/go?to=http://169.254.169.254/latest"],
    ["a plain file outside the workspace", "file:///etc/passwd"],
    ["a file above the workspace", "file:///workspace/../parley.key"],
    ["the vault's key", "file://FOLDER/data/parley.key"],
    ["the settings with their tokens", "file://FOLDER/parley.yaml"],
  ])("%s is not reached, and the model is told why", async (what, pattern) => {
    const url = pattern.replaceAll("PORT", String(host.port)).replaceAll("FOLDER", world.folder);
    world.script("Ada", attaching(url));
    const answer = await world.answer(world.dm("Bob", `fetch ${what}`));
    expect(answer.files).toEqual([]);
    const told = await world.request(
      (request) => request.lastRole === "tool" && heard(request).includes(`fetch ${what}`),
    );
    expect(told.lastToolResult).toContain("Nothing was sent.");
    expect(reached.filter((path) => path.startsWith("/inner"))).toEqual([]);
    await world.quiet();
  });

  test("a link in the workspace that leads out of it is not followed", async () => {
    symlinkSync("/etc/passwd", join(world.folder, "data", "workspace", "innocent.txt"));
    world.script("Ada", attaching("file:///workspace/innocent.txt"));
    expect((await world.answer(world.dm("Alice", "that innocent file"))).files).toEqual([]);
  });

  test.each(["../../../evil.txt", "/etc/evil.txt", "a\u0000b/../evil.txt", `${"e".repeat(400)}.txt`])(
    "a person's file called %j is a label, never a path",
    async (name) => {
      world.script("Ada", echo);
      const asked = world.dm("Alice", "look at this", { files: [{ name, bytes: "evil" }] });
      await world.answer(asked);
      await world.quiet();
      const outside = [join(world.folder, "evil.txt"), join(world.folder, "..", "evil.txt"), "/etc/evil.txt"];
      expect(outside.filter((path) => existsSync(path))).toEqual([]);
      expect(readdirSync(world.folder).sort()).toEqual(["data", "parley.yaml"]);
    },
  );
});
