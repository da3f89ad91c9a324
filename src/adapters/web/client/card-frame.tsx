/** What all cards share: their frame, how they ended, and refusals only this person sees. */

import type { ComponentChildren } from "preact";
import type { WirePost } from "../wire.ts";
import { CheckIcon, LockIcon } from "./icons.tsx";

/** A card with its parts; `ended` replaces the controls. */
export function CardFrame(props: {
  kind: string;
  children: ComponentChildren;
  ended?: ComponentChildren;
  refusal?: string;
}) {
  return (
    <div class={`card ${props.kind}${props.ended ? " ended" : ""}`}>
      {props.children}
      {props.ended && (
        <p class="ended-line" role="status">
          <CheckIcon />
          <span>{props.ended}</span>
        </p>
      )}
      {props.refusal && (
        <p class="refusal" role="alert">
          <LockIcon />
          <span>
            {props.refusal} <small>Only you see this.</small>
          </span>
        </p>
      )}
    </div>
  );
}

/** "Answered by Sam" and its kin; undefined while the card is open. `verb` is what answering means here. */
export function endedText(post: WirePost, verb: string): string | undefined {
  const { outcome } = post;
  if (!outcome || outcome.state === "open") return undefined;
  const by = outcome.byName ? ` by ${outcome.byName}` : "";
  if (outcome.state === "answered") return `${verb}${by}`;
  if (outcome.state === "dismissed") return outcome.byName ? `Declined${by}` : "Closed without an answer";
  return "Its time ran out";
}
