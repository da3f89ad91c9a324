/** A cloud coding agent a bot works with: what it is, and the way to it. */

import { CloudIcon, OutIcon } from "./icons.tsx";

/** The card of a cursor-agent bubble. */
export function AgentCard({ bcId, url }: { bcId: string; url: string }) {
  return (
    <div class="card agent">
      <span class="agent-mark">
        <CloudIcon />
      </span>
      <span class="grow">
        <strong>Cursor cloud agent</strong>
        <code>{bcId}</code>
      </span>
      <a class="button" href={url} target="_blank" rel="noopener noreferrer">
        Open agent
        <OutIcon />
        <span class="visually-hidden">in a new tab</span>
      </a>
    </div>
  );
}
