/**
 * What Discord refuses in embeds: 10 of them, lengths of their parts, 6000 characters in all.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText } from "../loopback.ts";
import type { Complain } from "./refusal.ts";
import { checkInteger, checkList, checkText } from "./refusal.ts";
import { codePoints } from "./world.ts";

/** Complains about everything wrong with a message's embeds. */
export function checkEmbeds(complain: Complain, value: unknown): void {
  const embeds = checkList(complain, "embeds", value, { max: 10 }).map(asFields);
  let total = 0;
  for (const [index, embed] of embeds.entries()) {
    const at = `embeds.${index}`;
    checkText(complain, `${at}.title`, embed.title, { max: 256 });
    checkText(complain, `${at}.description`, embed.description, { max: 4096 });
    checkText(complain, `${at}.footer.text`, asFields(embed.footer).text, { max: 2048 });
    checkText(complain, `${at}.author.name`, asFields(embed.author).name, { max: 256 });
    checkInteger(complain, `${at}.color`, embed.color, { min: 0, max: 0xffffff });
    checkWebAddress(complain, `${at}.url`, embed.url);
    checkMedia(complain, `${at}.image.url`, asFields(embed.image).url);
    checkMedia(complain, `${at}.thumbnail.url`, asFields(embed.thumbnail).url);
    total += codePoints(textOf(embed)) + checkFields(complain, at, embed.fields);
  }
  if (total > 6000) complain("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000");
}

function textOf(embed: Fields): string {
  const parts = [embed.title, embed.description, asFields(embed.footer).text, asFields(embed.author).name];
  return parts.map(asText).join("");
}

function checkFields(complain: Complain, at: string, value: unknown): number {
  const fields = checkList(complain, `${at}.fields`, value, { max: 25 }).map(asFields);
  let total = 0;
  for (const [index, { name, value: text }] of fields.entries()) {
    checkText(complain, `${at}.fields.${index}.name`, name, { min: 1, max: 256, required: true });
    checkText(complain, `${at}.fields.${index}.value`, text, { min: 1, max: 1024, required: true });
    total += codePoints(asText(name) + asText(text));
  }
  return total;
}

function checkMedia(complain: Complain, path: string, value: unknown): void {
  if (typeof value === "string" && value.startsWith("attachment://")) return;
  checkWebAddress(complain, path, value);
}

/** Checks an optional http(s) address. */
export function checkWebAddress(
  complain: Complain,
  path: string,
  value: unknown,
  schemes: readonly string[] = ["http", "https"],
): void {
  if (value === undefined || value === null) return;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(asText(value))?.[1]?.toLowerCase();
  const wellFormed = URL.canParse(asText(value)) && !/\s/.test(asText(value));
  if (!wellFormed) complain(path, "URL_TYPE_INVALID_URL", "Not a well formed URL.");
  else if (!schemes.includes(scheme ?? ""))
    complain(
      path,
      "URL_TYPE_INVALID_SCHEME",
      `Scheme "${scheme}" is not supported. Scheme must be one of (${schemes.map((name) => `'${name}'`).join(", ")}).`,
    );
}
