/** The Discord commands of the command line: the invitation, and what the doctor may mend. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the settings' own placeholders are what is tested.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PlatformSetup } from "../../src/cli/command-line.ts";
import { runCommand } from "../../src/cli/program.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "parley-invite-"));
  const bots = [
    { id: "bo", name: "Bo", role: "x", model: "demo", discord: { token: "any" } },
    { id: "ada", name: "Ada", role: "x", model: "demo" },
  ];
  writeFileSync(join(cwd, "parley.yaml"), JSON.stringify({ bots, discord: { replies: "thread" } }));
});
afterEach(() => rmSync(cwd, { recursive: true }));

async function run(words: readonly string[], discord: PlatformSetup) {
  const out: string[] = [];
  const err: string[] = [];
  const line = {
    cwd,
    env: {},
    print: (text: string) => void out.push(text),
    complain: (text: string) => void err.push(text),
    fetch: async () => Response.error(),
  };
  const code = await runCommand(words, line, { discord: async () => discord });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

test("invite prints nothing but the link on standard output, for threads where answers go into threads", async () => {
  const asked: object[] = [];
  const { code, out } = await run(["invite", "Bo"], {
    invite: async (bot) => {
      asked.push(bot);
      return { link: "https://discord.example/authorize" };
    },
  });
  expect([code, out]).toEqual([0, "https://discord.example/authorize"]);
  expect(asked).toMatchObject([{ botId: "bo", settings: { token: "any" }, threads: true }]);
});

test("invite says what is wrong: no such bot, no token, a token Discord does not know", async () => {
  const refuse: PlatformSetup = { invite: () => Promise.reject(new Error("Discord does not accept the bot token.")) };
  expect((await run(["invite", "cy"], refuse)).err).toContain("There is no bot cy");
  expect((await run(["invite", "ada"], refuse)).err).toContain("has no Discord token");
  const ben = { id: "ben", name: "Ben", role: "x", discord: { token: "${BEN_TOKEN}" } };
  const cat = { id: "cat", name: "Cat", role: "x", discord: { token: "${CAT_TOKEN}" } };
  writeFileSync(join(cwd, "parley.yaml"), JSON.stringify({ bots: [ben, cat] }));
  const unset = (await run(["invite", "ben"], refuse)).err;
  expect(unset).toContain("BEN_TOKEN");
  expect(unset).not.toContain("CAT_TOKEN");
  writeFileSync(
    join(cwd, "parley.yaml"),
    JSON.stringify({ bots: [{ ...ben, id: "bo", name: "Bo", discord: { token: "any" } }] }),
  );
  const { code, err } = await run(["invite", "bo"], refuse);
  expect([code, err]).toEqual([1, "Discord does not accept the bot token."]);
});

test("the doctor changes nothing unless it is told to", async () => {
  const fixes: unknown[] = [];
  const look: PlatformSetup = {
    check: async ({ fix }) => {
      fixes.push(fix);
      return [{ state: "ok", what: "looked at" }];
    },
  };
  await run(["doctor"], look);
  await run(["doctor", "--fix"], look);
  expect(fixes).toEqual([false, true]);
});
