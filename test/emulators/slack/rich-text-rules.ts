/**
 * Rules for rich_text blocks: sections, lists, quotes and preformatted text with their inline elements.
 * Leaves everything else to `block-rules.ts`.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText } from "../loopback.ts";
import type { Check } from "./text-rules.ts";
import { checkItems, checkString, note } from "./text-rules.ts";

const INLINE: Readonly<Record<string, string>> = {
  text: "text",
  link: "url",
  user: "user_id",
  usergroup: "usergroup_id",
  channel: "channel_id",
  team: "team_id",
  broadcast: "range",
  emoji: "name",
  color: "value",
  date: "format",
};

/** Checks a rich_text block's elements; each inline element needs its main field. */
export function checkRichText(check: Check, elements: unknown, pointer: string): void {
  checkItems(check, elements, pointer, 1, 500).forEach((element, index) => {
    checkPart(check, element, `${pointer}/${index}`);
  });
}

function checkPart(check: Check, element: unknown, at: string): void {
  const part = asFields(element);
  const type = asText(part.type);
  if (type === "rich_text_list") {
    if (part.style !== "bullet" && part.style !== "ordered") note(check, `${at}/style`, "must be bullet or ordered");
    checkItems(check, part.elements, `${at}/elements`, 1, 500).forEach((item, index) => {
      checkPart(check, item, `${at}/elements/${index}`);
    });
    return;
  }
  if (!["rich_text_section", "rich_text_quote", "rich_text_preformatted"].includes(type)) {
    note(check, `${at}/type`, `unsupported type: ${type || "nothing"}`);
    return;
  }
  for (const [index, item] of checkItems(check, part.elements, `${at}/elements`, 0, 1000).entries()) {
    checkInline(check, asFields(item), `${at}/elements/${index}`);
  }
}

function checkInline(check: Check, inline: Fields, at: string): void {
  const main = INLINE[asText(inline.type)];
  if (main) checkString(check, inline[main], `${at}/${main}`, 12_000);
  else note(check, `${at}/type`, `unsupported type: ${asText(inline.type) || "nothing"}`);
}
