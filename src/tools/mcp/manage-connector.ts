/**
 * manage_connector: what people ask about connectors in a conversation (SPEC P2, G11): which there are, signing in and out of their own, and for
 * administrators sharing a sign-in with everybody and switching plugins' connectors on.
 */

import { z } from "zod";
import { type ConnectorHealth, isAtLeast, type Tool, type ToolContext, type ToolResult } from "../../engine/index.ts";
import type { Connections } from "./connections.ts";
import type { ConnectorDefinition } from "./definitions.ts";
import { isSwitchable, type SignIns } from "./sign-ins.ts";

const input = z.object({
  action: z
    .enum(["list", "connect", "disconnect", "share", "unshare", "enable", "disable"])
    .describe(
      "connect shows the person a sign-in link (direct messages only); share, enable and the like are for administrators",
    ),
  connector: z.string().max(100).nullish().describe("Name of the connector; not for list"),
});

type Action = z.infer<typeof input>["action"];

/** Its effects are kept by key, so running it again after a crash is safe. */
export function createManageConnector(connections: Connections, signIns: SignIns): Tool<typeof input> {
  return {
    name: "manage_connector",
    description:
      "List connectors and their state, connect or disconnect the person's own account, or (administrators) share and switch connectors.",
    input,
    offeredIn: ["main", "member", "room"],
    repeatable: true,
    async execute({ action, connector }, context) {
      if (action === "list") return list(connections, context);
      const definition = connections.definition(connector ?? "");
      if (!definition) {
        const known = connections.ids().join(", ") || "none";
        return { ok: false, text: `There is no connector ${JSON.stringify(connector ?? "")}. Known: ${known}.` };
      }
      return act({ connections, signIns, definition, context }, action);
    },
  };
}

interface Case {
  readonly connections: Connections;
  readonly signIns: SignIns;
  readonly definition: ConnectorDefinition;
  readonly context: ToolContext;
}

async function act(item: Case, action: Exclude<Action, "list">): Promise<ToolResult> {
  const isOwn = action === "connect" || action === "disconnect";
  const personId = item.context.directPersonId;
  if (isOwn) {
    if (!personId)
      return {
        ok: false,
        text: "A person's own account is connected in a direct message only. Ask them to write to you there.",
      };
    return action === "connect" ? connect(item, personId) : disconnect(item, personId);
  }
  const { role, personIds } = item.context.authority;
  const [admin] = personIds;
  if (!admin || !isAtLeast(role, "admin"))
    return { ok: false, text: "Only administrators (access.admins) may do that, and this turn serves somebody else." };
  return action === "share" || action === "unshare" ? share(item, action, admin) : toggle(item, action === "enable");
}

async function list(connections: Connections, context: ToolContext): Promise<ToolResult> {
  const own = context.directPersonId;
  const shown = connections
    .health()
    .filter(({ connector }) => !connector.includes("@") || connector.endsWith(`@${own}`));
  return { ok: true, text: shown.length > 0 ? shown.map(lineOf).join("\n") : "There are no connectors." };
}

function lineOf({ connector, state, tools, remedy }: ConnectorHealth): string {
  const name = connector.replace(/@.*/, " (the person's own)");
  return `- ${name}: ${state}, ${tools} tools${remedy ? `. ${remedy}` : ""}`;
}

async function connect({ definition, signIns, context }: Case, personId: string): Promise<ToolResult> {
  const { id } = definition;
  if (!(await signIns.isEnabled(definition))) return { ok: false, text: `The connector ${id} is switched off.` };
  const begun = await signIns.begin(definition, personId);
  if (!begun.ok) return begun;
  const host = new URL(begun.url).host;
  const text = `**${context.bot.name} can use ${id} for you** once you have signed in on **${host}**. Only your direct messages with bots here can use it. The link works for 15 minutes and is for you alone.`;
  const card = await context.showLink({ text, label: `Sign in to ${id}`, url: begun.url });
  if (!card) return { ok: false, text: "The link could not be shown here." };
  await begun.bind(card);
  return {
    ok: true,
    text: "The person was shown a sign-in link; do not repeat it. End your turn: you are told when they have signed in, and then find the tools with search_tools.",
  };
}

async function disconnect({ connections, definition, signIns }: Case, personId: string): Promise<ToolResult> {
  await signIns.disconnect(definition, personId);
  await connections.refresh(definition.id);
  return { ok: true, text: `Disconnected: the person's sign-in at ${definition.id} was forgotten here.` };
}

async function share(
  { connections, definition, signIns }: Case,
  action: "share" | "unshare",
  admin: string,
): Promise<ToolResult> {
  const { id } = definition;
  if (action === "share") {
    const own = await signIns.accountsOf(admin, [definition]);
    if (own.length === 0)
      return {
        ok: false,
        text: `Sharing shares the administrator's own sign-in, and they have none at ${id}. Connect it in a direct message first.`,
      };
  }
  await signIns.share(id, action === "share" ? admin : undefined);
  await connections.refresh(id);
  return {
    ok: true,
    text:
      action === "share" ? `Everybody here can use ${id} through this sign-in now.` : `${id} is not shared any more.`,
  };
}

async function toggle({ connections, definition, signIns }: Case, isOn: boolean): Promise<ToolResult> {
  const { id } = definition;
  if (!isSwitchable(definition))
    return {
      ok: false,
      text: `${id} comes from the settings file (mcp.servers.${definition.server}); it is on as long as it stands there.`,
    };
  await signIns.setEnabled(definition, isOn);
  await connections.refresh(id);
  return { ok: true, text: isOn ? `${id} is switched on and connects in the background.` : `${id} is switched off.` };
}
