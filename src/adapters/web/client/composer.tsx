/**
 * The field to write in: Enter sends, Shift+Enter starts a line, files are attached by button, paste or drop, "@" offers names in channels.
 * What is written but not sent stays per channel while the page is open.
 */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { WireChannel } from "../wire.ts";
import { AttachButton, AttachedFiles } from "./attachments.tsx";
import { SendIcon } from "./icons.tsx";
import { MentionList } from "./mention-list.tsx";
import { mentionAt, mentionables } from "./mentions.ts";
import type { Playground } from "./playground.ts";
import { useAttachments } from "./use-attachments.ts";

/** The bottom of a conversation. */
export function Composer({ playground, channel }: { playground: Playground; channel: WireChannel }) {
  const draft = useDraft(channel.id);
  const attachments = useAttachments();
  const field = useRef<HTMLTextAreaElement>(null);
  const mention = useMention(playground, channel, draft.text, field, draft.set);
  const ready = (draft.text.trim() !== "" || attachments.done.length > 0) && !attachments.busy;
  const send = () => {
    if (!ready) return;
    playground.say(channel.id, draft.text.trim(), attachments.done);
    draft.set("");
    attachments.clear();
    field.current?.focus();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    send();
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    attachments.add(event.dataTransfer?.files);
  };
  return (
    <form class="composer" onSubmit={onSubmit} onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      <AttachedFiles attachments={attachments} />
      <MentionList mention={mention} />
      <div class="composer-row">
        <AttachButton onFiles={attachments.add} />
        <Field
          field={field}
          text={draft.text}
          hint={hintFor(playground, channel)}
          mention={mention}
          onText={draft.set}
          onFiles={attachments.add}
          onSend={send}
        />
        <button type="submit" class="primary send" aria-label="Send" disabled={!ready}>
          <SendIcon />
        </button>
      </div>
    </form>
  );
}

function Field(props: {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  hint: string;
  mention: ReturnType<typeof useMention>;
  onText: (text: string) => void;
  onFiles: (files: FileList | undefined) => void;
  onSend: () => void;
}) {
  const { mention } = props;
  // Enter that ends the composition of a character does not send.
  const onKey = (event: KeyboardEvent) => {
    if (event.isComposing || mention.onKey(event)) return;
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    props.onSend();
  };
  return (
    <textarea
      id="composer"
      ref={props.field}
      rows={1}
      value={props.text}
      placeholder={props.hint}
      aria-label={props.hint}
      aria-autocomplete="list"
      aria-controls={mention.open ? "mention-list" : undefined}
      aria-activedescendant={mention.open ? `mention-${mention.index}` : undefined}
      onInput={(event) => {
        props.onText(event.currentTarget.value);
        mention.look();
      }}
      onKeyDown={onKey}
      onClick={mention.look}
      onPaste={(event) => props.onFiles(event.clipboardData?.files)}
    />
  );
}

function hintFor(playground: Playground, channel: WireChannel): string {
  if (channel.kind === "direct") return `Message ${channel.name}`;
  if (channel.bots.length > 1) return `Message #${channel.name}; @ to ask one`;
  const bot = playground.model.bots.find((one) => channel.bots.includes(one.id));
  return `Message #${channel.name}${bot ? `, @${bot.name} to ask` : ""}`;
}

/** Unsent text, kept per channel for this visit, and a field that grows with it. */
function useDraft(channelId: string) {
  const key = `parley.draft.${channelId}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? "");
  const set = (next: string) => {
    setText(next);
    if (next) sessionStorage.setItem(key, next);
    else sessionStorage.removeItem(key);
  };
  useLayoutEffect(() => {
    if (matchMedia("(pointer: fine)").matches) document.getElementById("composer")?.focus();
  }, []);
  return { text, set };
}

/** The state of "@…" completion: what is offered, which is marked, and what keys do to it. */
function useMention(
  playground: Playground,
  channel: WireChannel,
  text: string,
  field: RefObject<HTMLTextAreaElement | null>,
  setText: (text: string) => void,
) {
  const [caret, setCaret] = useState(0);
  const [index, setIndex] = useState(0);
  const [closedAt, setClosedAt] = useState(-1);
  const typed = channel.kind === "channel" ? mentionAt(text, caret) : undefined;
  const offers = typed && typed.start !== closedAt ? mentionables(playground.model, channel, typed.query) : [];
  const open = offers.length > 0;
  const look = () => {
    setCaret(field.current?.selectionStart ?? 0);
    setIndex(0);
  };
  const pick = (name: string) => {
    if (!typed) return;
    const before = `${text.slice(0, typed.start)}@${name} `;
    const whole = before + text.slice(caret);
    // At once, not at the next drawing: the person goes on typing.
    if (field.current) field.current.value = whole;
    field.current?.setSelectionRange(before.length, before.length);
    field.current?.focus();
    setText(whole);
    setClosedAt(-1);
    setCaret(before.length);
  };
  const onKey = (event: KeyboardEvent): boolean => {
    if (!open || !typed) return false;
    const offer = offers[index];
    const moves: Record<string, () => void> = {
      ArrowDown: () => setIndex((index + 1) % offers.length),
      ArrowUp: () => setIndex((index - 1 + offers.length) % offers.length),
      Enter: () => offer && pick(offer.name),
      Tab: () => offer && pick(offer.name),
      Escape: () => setClosedAt(typed.start),
    };
    const move = event.shiftKey ? undefined : moves[event.key];
    if (!move) return false;
    event.preventDefault();
    event.stopPropagation();
    move();
    return true;
  };
  return { open, offers, index, look, pick, onKey };
}
