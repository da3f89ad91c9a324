/** Skills and plugin packages as people publish them, and the command line that installs them into a world. */
import { runCommand } from "../../src/cli/program.ts";
import type { FileTree } from "./git-server.ts";

/** A SKILL.md. */
export function skillFile(name: string, description: string, body: string): string {
  return `---\nname: ${name}\ndescription: ${description}\nlicense: MIT\n---\n\n${body}\n`;
}

/** A package with everything that Claude's layout knows. `step` is a line of its skill that tells its versions apart. */
export function deskPackage(step = "Ask for the order number first."): FileTree {
  return {
    ".claude-plugin/plugin.json": JSON.stringify({
      name: "front-desk",
      version: "1.2.0",
      description: "How a small shop answers its customers",
      author: { name: "Shop Tools", email: "tools@example.com" },
      homepage: "https://example.com/front-desk",
      license: "MIT",
      keywords: ["support", "refunds"],
      hooks: "./hooks/hooks.json",
    }),
    "README.md": "# Front desk\n",
    LICENSE: "MIT\n",
    "skills/refunds/SKILL.md": skillFile(
      "refunds",
      "How to handle a refund. Use it when a customer wants money back.",
      `# Refunds\n\n1. ${step}\n2. Look up the limits in references/limits.md.\n3. Say the sum and the date.`,
    ),
    "skills/refunds/references/limits.md": "Refunds above 200 EUR need the owner's word.\n",
    "skills/refunds/scripts/sum.py": "print('never run')\n",
    "skills/opening-hours/SKILL.md": skillFile(
      "opening-hours",
      "When the shop is open, holidays too.",
      "Mon to Fri, 9 to 17.",
    ),
    "commands/refund.md": "---\ndescription: Start a refund\n---\nStart a refund for $ARGUMENTS\n",
    "agents/reviewer.md": "---\nname: reviewer\ndescription: Looks over answers\n---\nYou review.\n",
    "hooks/hooks.json": JSON.stringify({
      hooks: { SessionStart: [{ hooks: [{ type: "command", command: "touch $CLAUDE_PLUGIN_ROOT/ran" }] }] },
    }),
    "hooks/run.sh": "#!/bin/sh\ntouch ran\n",
    ".mcp.json": JSON.stringify({
      mcpServers: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: packages write it so, and we fill it in.
        orders: { command: "node", args: ["${CLAUDE_PLUGIN_ROOT}/servers/orders.mjs"], env: { LEVEL: "warn" } },
        stock: { type: "http", url: "https://stock.example.com/mcp", headers: { "X-Shop": "1" } },
      },
    }),
    "servers/orders.mjs": "throw new Error('never run');\n",
  };
}

/** Runs `parley …` in a folder. */
export async function parley(
  folder: string,
  ...words: readonly string[]
): Promise<{ readonly code: number; readonly out: string }> {
  const lines: string[] = [];
  const line = {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    print: (text: string) => void lines.push(text),
    complain: (text: string) => void lines.push(text),
    fetch: async () => Response.error(),
  };
  const code = await runCommand(words, line, {});
  return { code, out: lines.join("\n") };
}
