/**
 * What Discord refuses in a modal: title, 1–5 parts, each a Label with one input, a text, or an old row with a text
 * input.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText, isFields } from "../loopback.ts";
import type { ComponentForm } from "./component-rules.ts";
import { COMPONENT } from "./component-text.ts";
import { checkInput } from "./control-rules.ts";
import { checkList, checkText, isRequired, problemList, refuseForm } from "./refusal.ts";

/** Refuses a modal that Discord would not show; paths start with `data`. */
export function checkModalForm(data: Fields): void {
  const { problems, complain } = problemList();
  const form: ComponentForm = { complain, v2: true, modal: true, fileNames: new Map(), customIds: new Set() };
  checkText(complain, "data.title", data.title, { min: 1, max: 45, required: true });
  checkText(complain, "data.custom_id", data.custom_id, { min: 1, max: 100, required: true });
  const parts = checkList(complain, "data.components", data.components, { min: 1, max: 5, required: true });
  for (const [index, part] of parts.entries()) checkPart(form, asFields(part), `data.components.${index}`);
  refuseForm(problems);
}

function checkPart(form: ComponentForm, part: Fields, at: string): void {
  const { complain } = form;
  switch (part.type) {
    case COMPONENT.text:
      checkText(complain, `${at}.content`, part.content, { min: 1, max: 4000, required: true });
      return;
    case COMPONENT.label:
      checkLabel(form, part, at);
      return;
    case COMPONENT.row:
      checkOldRow(form, part, at);
      return;
    default:
      complain(`${at}.type`, "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (1, 10, 18).');
  }
}

function checkLabel(form: ComponentForm, part: Fields, at: string): void {
  const { complain } = form;
  checkText(complain, `${at}.label`, part.label, { min: 1, max: 45, required: true });
  checkText(complain, `${at}.description`, part.description, { max: 100 });
  if (isFields(part.component)) checkInput(form, part.component, `${at}.component`, true);
  else isRequired(complain, `${at}.component`);
}

function checkOldRow(form: ComponentForm, part: Fields, at: string): void {
  const inputs = checkList(form.complain, `${at}.components`, part.components, { min: 1, max: 1, required: true });
  for (const [index, input] of inputs.entries()) checkInput(form, asFields(input), `${at}.components.${index}`, false);
}

/** Texts a person reads in a modal before typing. */
export function modalText(data: Fields): string {
  const parts = Array.isArray(data.components) ? data.components.map(asFields) : [];
  return [
    asText(data.title),
    ...parts.flatMap((part) => [asText(part.content), asText(part.label), asText(part.description)]),
  ]
    .filter((line) => line !== "")
    .join("\n");
}
