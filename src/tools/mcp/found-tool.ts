/** What looking for connectors' tools gives, and who looks; types that the tools and the connections share. */

import type { ConnectorPlace, ToolContext } from "../../engine/index.ts";
import type { Connection } from "./connection.ts";
import type { ListedTool } from "./opened-client.ts";

/** A tool with its connection and the name models know it by. */
export interface FoundTool {
  readonly name: string;
  readonly connection: Connection;
  readonly tool: ListedTool;
}

/** Finds tools by the name models know them by, among those the place of a call may use. */
export interface ToolLookup {
  find(name: string, context: Pick<ToolContext, "directPersonId">): Promise<FoundTool | undefined>;
}

/** Where a call runs, as far as connectors care. */
export function placeOf({ directPersonId }: Pick<ToolContext, "directPersonId">): ConnectorPlace {
  return directPersonId ? { personId: directPersonId } : {};
}
