/** The ways to choose: buttons, a list, a menu, check boxes, or one's own words. Each is a plain form control with its label. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { WireContent } from "../wire.ts";

type Options = Extract<WireContent, { type: "widget" }>["widget"]["options"];

interface ListProps {
  readonly options: Options;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly seq: number;
}

/** A press answers. */
export function ButtonChoices({ options, onChoose }: { options: Options; onChoose: (value: string) => void }) {
  const described = options.some((option) => option.description);
  return (
    <div class={described ? "choices stacked" : "choices"}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          class={`choice ${option.style}`}
          onClick={() => onChoose(option.value)}
        >
          {option.label}
          {option.description && <small>{option.description}</small>}
        </button>
      ))}
    </div>
  );
}

/** One of a list. */
export function RadioChoices({ options, chosen, onChange, seq }: ListProps) {
  return (
    <div class="choice-list">
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={`widget-${seq}`}
            checked={chosen.includes(option.value)}
            onChange={() => onChange([option.value])}
          />
          <span>
            {option.label}
            {option.description && <small>{option.description}</small>}
          </span>
        </label>
      ))}
    </div>
  );
}

/** Several of a list; at the maximum the others are off. */
export function CheckChoices({ options, chosen, onChange, max }: ListProps & { max: number }) {
  const toggle = (value: string, on: boolean) =>
    onChange(on ? [...chosen, value] : chosen.filter((one) => one !== value));
  return (
    <div class="choice-list">
      {options.map((option) => {
        const checked = chosen.includes(option.value);
        return (
          <label key={option.value}>
            <input
              type="checkbox"
              checked={checked}
              disabled={!checked && chosen.length >= max}
              onChange={(event) => toggle(option.value, event.currentTarget.checked)}
            />
            <span>
              {option.label}
              {option.description && <small>{option.description}</small>}
            </span>
          </label>
        );
      })}
    </div>
  );
}

/** One of many. */
export function MenuChoice({ options, chosen, onChange, label }: ListProps & { label: string }) {
  return (
    <select
      aria-label={label}
      value={chosen[0] ?? ""}
      onChange={(event) => onChange(event.currentTarget.value ? [event.currentTarget.value] : [])}
    >
      <option value="">Choose…</option>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.description ? `${option.label} — ${option.description}` : option.label}
        </option>
      ))}
    </select>
  );
}

/** "Other…" opens a field for one's own words. */
export function CustomAnswer({ seq, onAnswer }: { seq: number; onAnswer: (text: string) => void }) {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  // The person has just pressed "Other…" to type here: before the next drawing, or the first keys go nowhere.
  useLayoutEffect(() => field.current?.focus(), [open]);
  if (!open) {
    return (
      <button type="button" class="choice other" onClick={() => setOpen(true)}>
        Other…
      </button>
    );
  }
  const submit = (event: Event) => {
    event.preventDefault();
    if (text.trim()) onAnswer(text.trim());
  };
  return (
    <form class="row custom-answer" onSubmit={submit}>
      <label class="visually-hidden" for={`custom-${seq}`}>
        Your own answer
      </label>
      <input
        id={`custom-${seq}`}
        ref={field}
        value={text}
        maxLength={3000}
        placeholder="Your own answer"
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={!text.trim()}>
        Send
      </button>
    </form>
  );
}
