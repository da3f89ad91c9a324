/** Settings of personas (SPEC I1): bots that speak through another bot's Slack app. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig } from "../src/config.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "parley-config-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const withCy = (slack: string) => {
  const ada = "{ id: ada, name: Ada, model: demo, slack: { botToken: xoxb-1, appToken: xapp-1 } }";
  writeFileSync(
    join(cwd, "parley.yaml"),
    `bots:\n  - ${ada}\n  - { id: cy, name: Cy, model: demo, slack: ${slack} }\n`,
  );
  return loadConfig({ argv: [], env: {}, cwd });
};

test("a persona names the bot whose app it speaks through, and its picture", () => {
  expect(withCy('{ personaOf: ada, icon: ":owl:" }').bots[1]?.slack).toEqual({ personaOf: "ada", icon: ":owl:" });
});

test.each([
  ["a bot that is not there", "{ personaOf: adda }", "adda is no bot with a Slack app. Use one of: ada"],
  ["itself", "{ personaOf: cy }", "cy is no bot with a Slack app"],
  ["tokens of its own", "{ personaOf: ada, botToken: xoxb-2 }", "A persona has no tokens"],
  ["a picture nobody can show", '{ personaOf: ada, icon: "owl" }', "an https:// address or an emoji"],
  ["a picture without being one", '{ botToken: xoxb-2, appToken: xapp-2, icon: ":owl:" }', "is for personas only"],
])("a persona with %s is refused with the fix", (_what, slack, problem) => {
  expect(() => withCy(slack)).toThrow(problem);
});
