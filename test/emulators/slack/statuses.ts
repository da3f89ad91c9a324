/**
 * The "is working…" lines under a thread. A status ends when the app posts there, when it is set to "", or after two
 * minutes.
 */
import type { App, Channel, StatusLine } from "./model.ts";
import type { Workspace } from "./workspace.ts";

const STATUS_MS = 120_000;

/** Remembers a status. */
export function setStatus(workspace: Workspace, line: Omit<StatusLine, "at">): void {
  workspace.statuses.push({ ...line, at: Date.now() });
}

/** The app's next message clears its status. */
export function clearStatus(workspace: Workspace, app: App, channel: Channel, threadTs: string | null): void {
  if (currentStatus(workspace, app, channel, threadTs) === "") return;
  setStatus(workspace, { app, channel, threadTs, method: "cleared by a message", status: "" });
}

/** What a person sees now under the thread: the newest status line of the assistant methods, or "". */
export function currentStatus(workspace: Workspace, app: App, channel: Channel, threadTs: string | null): string {
  const line = workspace.statuses.findLast(
    (item) =>
      item.app === app &&
      item.channel === channel &&
      item.threadTs === threadTs &&
      item.method !== "agents.sessions.setStatus",
  );
  return line && Date.now() - line.at < STATUS_MS ? line.status : "";
}
