/**
 * Rules for modals and home tabs: titles of 24 characters, 100 blocks, a submit button when there are inputs.
 * The blocks inside are checked by `block-rules.ts`.
 */
import { asFields, asList, isFields } from "../loopback.ts";
import { checkBlocks } from "./block-rules.ts";
import type { Problem } from "./refusal.ts";
import { checkOptionalString, checkPlain, newCheck, note } from "./text-rules.ts";

/** Every broken rule of a view. */
export function checkView(view: unknown): Problem[] {
  const check = newCheck();
  if (!isFields(view)) return [{ pointer: "/view", message: "must be an object" }];
  if (view.type !== "modal" && view.type !== "home") note(check, "/view/type", "must be modal or home");
  if (view.type === "modal") {
    checkPlain(check, view.title, "/view/title", 24);
    for (const key of ["submit", "close"])
      if (view[key] !== undefined) checkPlain(check, view[key], `/view/${key}`, 24);
    const hasInput = asList(view.blocks).some((block) => asFields(block).type === "input");
    if (hasInput && view.submit === undefined)
      note(check, "/view/submit", "missing required field: a view with inputs needs submit");
  }
  if (view.private_metadata !== undefined && String(view.private_metadata).length > 3000) {
    note(check, "/view/private_metadata", "must be less than 3001 characters");
  }
  checkOptionalString(check, view.callback_id, "/view/callback_id", 255);
  checkOptionalString(check, view.external_id, "/view/external_id", 255);
  if (JSON.stringify(view).length > 250_000) note(check, "/view", "must be less than 250001 bytes");
  return [...check.problems, ...checkBlocks(view.blocks, "view", "/view/blocks")];
}
