/** The status page: what it says of bots, connectors and skills, that it shows hostile text as text, and who may see it. */
import { expect, test } from "vitest";
import type { ConnectorHealth } from "../src/engine/index.ts";
import { createStatusRoute } from "../src/main-status.ts";
import { ask, start } from "./support/web-server.ts";

const heard = new Date("2026-11-30T12:00:00Z");
const status = (connectors: readonly ConnectorHealth[] = []) =>
  createStatusRoute({
    bots: () => [
      { botId: "ada", platform: "slack", state: "failed", remedy: "Set slack.botToken.", lastEventAt: heard },
      { botId: "bo", platform: "web", state: "connected" },
    ],
    botName: (id) => (id === "ada" ? "Ada" : "Bo"),
    connectors: () => connectors,
    skills: () => ({ known: 2, problems: [{ where: "skills/broken", text: "has no front matter." }] }),
  });
const textOf = (html: string) => html.replace(/<style>.*<\/style>/s, "").replace(/<[^>]+>/g, "\n");

test("names every bot, connector and skill that does not work, with what would help", async () => {
  const port = await start([
    status([
      { connector: "files", state: "connected", tools: 14 },
      { connector: "tickets", state: "needs-secret", tools: 0, remedy: "An administrator can give it." },
    ]),
  ]);
  const answer = await ask(port, "/status");
  expect(answer.status).toBe(200);
  const lines = textOf(answer.body)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  for (const wanted of [
    ["Ada on slack", "·", "failed", "Set slack.botToken.", "last event 2026-11-30 12:00:00 UTC"],
    ["Bo on web", "·", "connected"],
    ["files", "·", "connected", "14 tools"],
    ["tickets", "·", "needs-secret", "0 tools", "An administrator can give it."],
    ["Skills for all bots: 2", "skills/broken", "·", "cannot be used", "has no front matter."],
  ])
    expect(lines.join("\n")).toContain(wanted.join("\n"));
});

test("shows what others wrote as text, and runs nothing", async () => {
  const evil = '<script>alert(1)</script><img src=x onerror="x">';
  const port = await start([status([{ connector: evil, state: "reconnecting", tools: 0, remedy: evil }])]);
  const { body, headers } = await ask(port, "/status");
  expect(body).not.toContain("<script");
  expect(body).not.toContain("<img");
  expect(headers["content-security-policy"]).toContain("default-src 'none'");
});

test("asks for the password where there is one", async () => {
  const port = await start([status()], { password: "open sesame" });
  expect((await ask(port, "/status")).status).toBe(401);
});
