/**
 * A question with choices. Few choices are buttons that answer at once, more become a list, many a menu; several choices are check boxes.
 * When it is answered it freezes and shows what was chosen and by whom.
 */

import { useState } from "preact/hooks";
import type { WireContent, WirePost } from "../wire.ts";
import { CardFrame, endedText } from "./card-frame.tsx";
import { CheckIcon } from "./icons.tsx";
import { Markdown } from "./markdown.tsx";
import type { Playground } from "./playground.ts";
import { useRequest } from "./use-request.ts";
import { ButtonChoices, CheckChoices, CustomAnswer, MenuChoice, RadioChoices } from "./widget-choices.tsx";

type WidgetContent = Extract<WireContent, { type: "widget" }>;

interface Props {
  readonly playground: Playground;
  readonly post: WirePost;
  readonly content: WidgetContent;
}

const MAX_BUTTONS = 5;
const MAX_RADIOS = 10;

/** The card of a widget. */
export function WidgetCard({ playground, post, content }: Props) {
  const { widget } = content;
  const { busy, refusal, run } = useRequest();
  const ended = endedText(post, "Answered");
  const onAnswer = (choices: readonly string[], text?: string) =>
    void run(() => playground.answer(post, choices, text));
  return (
    <CardFrame kind="widget" ended={ended} refusal={refusal}>
      <fieldset disabled={busy || ended !== undefined}>
        <legend>
          <Markdown html={content.promptHtml} />
        </legend>
        {content.helpHtml && <Markdown class="help" html={content.helpHtml} />}
        {ended ? (
          <Frozen post={post} content={content} />
        ) : (
          <Open content={content} seq={post.seq} onAnswer={onAnswer} />
        )}
        {!ended && widget.allowCustom && <CustomAnswer seq={post.seq} onAnswer={(text) => onAnswer([], text)} />}
      </fieldset>
    </CardFrame>
  );
}

function Open(props: { content: WidgetContent; seq: number; onAnswer: (choices: readonly string[]) => void }) {
  const { widget } = props.content;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  if (!widget.multiple && widget.options.length <= MAX_BUTTONS) {
    return <ButtonChoices options={widget.options} onChoose={(value) => props.onAnswer([value])} />;
  }
  const min = widget.multiple?.min ?? 1;
  const max = widget.multiple?.max ?? 1;
  const fits = chosen.length >= min && chosen.length <= max;
  const shared = { options: widget.options, chosen, onChange: setChosen, seq: props.seq };
  return (
    <>
      {widget.multiple && <p class="help">{howMany(min, max, widget.options.length)}</p>}
      {widget.multiple && <CheckChoices {...shared} max={max} />}
      {!widget.multiple && widget.options.length <= MAX_RADIOS && <RadioChoices {...shared} />}
      {!widget.multiple && widget.options.length > MAX_RADIOS && <MenuChoice {...shared} label={widget.prompt} />}
      <button type="button" class="primary" disabled={!fits} onClick={() => props.onAnswer(chosen)}>
        Submit
      </button>
    </>
  );
}

function Frozen({ post, content }: { post: WirePost; content: WidgetContent }) {
  const answer = post.outcome?.answer;
  const chosen = new Set(answer?.values);
  const many = content.widget.options.length > MAX_RADIOS;
  const shown = content.widget.options.filter((option) => !many || chosen.has(option.value));
  return (
    <ul class="choices frozen">
      {shown.map((option) => (
        <li key={option.value} class={chosen.has(option.value) ? "choice chosen" : "choice"}>
          {chosen.has(option.value) && <CheckIcon />}
          {option.label}
          {chosen.has(option.value) && <span class="visually-hidden"> (chosen)</span>}
        </li>
      ))}
      {answer?.custom && (
        <li class="choice chosen">
          <CheckIcon />
          {answer.custom}
          <span class="visually-hidden"> (own answer)</span>
        </li>
      )}
    </ul>
  );
}

function howMany(min: number, max: number, all: number): string {
  if (min === max) return `Choose ${min}.`;
  if (min <= 1 && max >= all) return "Choose as many as you like.";
  return min <= 1 ? `Choose up to ${max}.` : `Choose ${min} to ${max}.`;
}
