/** A message of the host itself: a plain notice, or one with controls such as Retry. */

import type { WireContent, WirePost } from "../wire.ts";
import { CardFrame, endedText } from "./card-frame.tsx";
import { Markdown } from "./markdown.tsx";
import type { Playground } from "./playground.ts";
import { useRequest } from "./use-request.ts";

/** The card of the host. */
export function HostCardView(props: {
  playground: Playground;
  post: WirePost;
  content: Extract<WireContent, { type: "host-card" }>;
}) {
  const { playground, post, content } = props;
  const { busy, refusal, run } = useRequest();
  const labels = post.outcome?.answer?.labels.join(", ");
  const ended = endedText(post, labels ? `“${labels}”` : "Done");
  const open = !ended && content.controls.length > 0;
  return (
    <CardFrame kind="host" ended={ended} refusal={refusal}>
      <Markdown html={content.html} />
      {open && (
        <div class="choices">
          {content.link && (
            <a class="choice primary" href={content.link.url} target="_blank" rel="noopener noreferrer">
              {content.link.label}
            </a>
          )}
          {content.controls.map((control) => (
            <button
              key={control.value}
              type="button"
              class={`choice ${control.style}`}
              disabled={busy}
              onClick={() => void run(() => playground.answer(post, [control.value]))}
            >
              {control.label}
            </button>
          ))}
        </div>
      )}
    </CardFrame>
  );
}
