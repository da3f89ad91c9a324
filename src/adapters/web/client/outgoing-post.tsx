/** A message on its way: shown at once, with what is happening to it. */

import type { WirePerson } from "../wire.ts";
import type { Outgoing } from "./model.ts";
import type { Playground } from "./playground.ts";

const WORDS = { sending: "Sending…", sent: "Sent", waiting: "Waiting for the connection", failed: "Not sent" } as const;

/** One's own message before the server has it. */
export function OutgoingPost(props: { playground: Playground; item: Outgoing; me: WirePerson | null }) {
  const { playground, item, me } = props;
  const failed = item.state === "failed";
  return (
    <article class={`post mine outgoing ${item.state}`} aria-label={`${me?.name ?? "You"}, ${WORDS[item.state]}`}>
      <div class="post-body">
        {item.text && <div class="bubble plain">{item.text}</div>}
        {item.files.map((file) => (
          <div key={file.uploadId} class="bubble plain">
            📎 {file.name}
          </div>
        ))}
        <p class="sending-state" role={failed ? "alert" : undefined}>
          {failed ? (item.error ?? WORDS.failed) : WORDS[item.state]}
          {failed && (
            <>
              <button type="button" class="link" onClick={() => playground.resend(item.clientId)}>
                Try again
              </button>
              <button type="button" class="link" onClick={() => playground.discard(item.clientId)}>
                Discard
              </button>
            </>
          )}
        </p>
      </div>
    </article>
  );
}
