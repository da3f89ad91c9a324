/** The names "@" offers, above the field. The field keeps the focus; arrows mark, Enter takes. */

import { Avatar } from "./avatar.tsx";
import type { Mentionable } from "./mentions.ts";

interface Props {
  readonly mention: {
    readonly open: boolean;
    readonly offers: readonly Mentionable[];
    readonly index: number;
    readonly pick: (name: string) => void;
  };
}

/** The open list, or nothing. */
export function MentionList({ mention }: Props) {
  if (!mention.open) return null;
  return (
    <div class="mention-list" id="mention-list" role="listbox" aria-label="Names">
      {mention.offers.map((offer, index) => (
        <div
          key={offer.id}
          id={`mention-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === mention.index}
          onMouseDown={(event) => {
            event.preventDefault();
            mention.pick(offer.name);
          }}
        >
          <Avatar id={offer.id} name={offer.name} bot={offer.bot} />
          {offer.name}
          <span class="hint">{offer.bot ? "bot" : "person"}</span>
        </div>
      ))}
    </div>
  );
}
