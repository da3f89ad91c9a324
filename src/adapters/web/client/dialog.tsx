/** A modal dialog on the browser's own element: focus stays inside, Escape closes, focus returns. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { WireBot } from "../wire.ts";
import { ApiError } from "./api.ts";
import { Avatar } from "./avatar.tsx";
import { CloseIcon } from "./icons.tsx";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  /** Label and work of the main button; without them the content brings its own. */
  readonly action?: string;
  readonly onAction?: () => Promise<void>;
}

/** A dialog that is open while it is drawn. */
export function Dialog({ title, children, onClose, action, onAction }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState("");
  useLayoutEffect(() => element.current?.showModal(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setError("");
    try {
      await onAction?.();
    } catch (problem) {
      setError(problem instanceof ApiError ? problem.message : "Something went wrong. Try again.");
    }
  };
  const body = (
    <>
      {children}
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {action && (
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            {action}
          </button>
        </div>
      )}
    </>
  );
  return (
    <dialog ref={element} class="dialog" aria-labelledby="dialog-title" onClose={onClose}>
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="quiet icon-button" aria-label="Close" onClick={onClose}>
          <CloseIcon />
        </button>
      </header>
      {action ? <form onSubmit={submit}>{body}</form> : body}
    </dialog>
  );
}

/** Which bots sit in a channel. */
export function BotChoice(props: {
  bots: readonly WireBot[];
  chosen: readonly string[];
  onChoose: (ids: readonly string[]) => void;
}) {
  const toggle = (id: string) =>
    props.onChoose(props.chosen.includes(id) ? props.chosen.filter((one) => one !== id) : [...props.chosen, id]);
  return (
    <fieldset class="bot-choice">
      <legend>Bots in this channel</legend>
      {props.bots.map((bot) => (
        <label key={bot.id}>
          <input
            type="checkbox"
            name="bot"
            value={bot.id}
            checked={props.chosen.includes(bot.id)}
            onChange={() => toggle(bot.id)}
          />
          <Avatar id={bot.id} name={bot.name} bot />
          <span>
            {bot.name}
            <span class="role">{bot.role}</span>
          </span>
        </label>
      ))}
      <p class="hint">One bot answers when it is mentioned. Two or more are a Group and take turns.</p>
    </fieldset>
  );
}
