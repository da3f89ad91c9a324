/**
 * Text from people, files and other bots on its way into a prompt (SPEC I5). It stays readable, but can no longer pass for the host: reminders,
 * markers and speaker lines written by a person are visibly altered, however they are spelled. Pure; ordinary text comes back unchanged.
 */

/** Names of host tags, as their letters alone. */
const HOST_TAGS = ["systemreminder", "hostnote", "contextbefore", "connectoroutput"];
/** Longest stretch after a "<" that is looked at, characters. */
const TAG_WINDOW = 120;
const TAG_SIGN = /[<＜﹤](?=[\s/\\\p{P}\p{Cf}\p{Cc}\p{M}]{0,100}\p{L})/gu;
const LINE_END = "\\n\\r\\v\\f\\u0085\\u2028\\u2029";
const LINE_START = `(?<=^|[${LINE_END}])`;
/** "[t3u] …" at the start of a line, also with other brackets, spaces and invisible characters in it. */
const ADDRESS_LINE = new RegExp(
  `${LINE_START}((?:[^\\S${LINE_END}]|[\\p{Cf}\\p{M}])*)[[［【〔]([^\\]］】〕${LINE_END}]{1,200})(?=[\\]］】〕])`,
  "gu",
);
/** "Name (platform:workspace:id) …:" at the start of a line: how entries without an address begin. */
const ID_LINE = new RegExp(
  `${LINE_START}([^${LINE_END}]{0,200}?)[(（]([\\s\\p{Cf}]*\\p{L}[\\p{L}\\p{N}\\p{Cf}_-]*[:：][^\\s()（）:：/]+[:：][^\\s()（）/]+[\\s\\p{Cf}]*)[)）](?=[^:：${LINE_END}]{0,80}[:：])`,
  "gu",
);
/** Letters of other alphabets that look like a Latin one of the host tags; NFKD has dealt with other widths and styles. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  ...{ а: "a", е: "e", є: "e", ε: "e", ᴇ: "e", о: "o", ο: "o", օ: "o", ᴏ: "o", с: "c", ϲ: "c", ᴄ: "c" },
  ...{ ѕ: "s", ꜱ: "s", у: "y", ү: "y", υ: "y", γ: "y", ʏ: "y", т: "t", τ: "t", ᴛ: "t", м: "m", μ: "m", ᴍ: "m" },
  ...{ г: "r", ʀ: "r", і: "i", ι: "i", ı: "i", ӏ: "i", ɪ: "i", п: "n", ո: "n", η: "n", ν: "n", ɴ: "n" },
  ...{ ԁ: "d", ᴅ: "d", һ: "h", н: "h", ʜ: "h", х: "x", χ: "x", ь: "b", в: "b", β: "b", ʙ: "b", ƒ: "f", ꜰ: "f" },
};

/** Message text, with imitations of host markers and speaker lines defused. Everything else is unchanged. */
export function untrustedText(text: string): string {
  const whole = text.toWellFormed();
  return whole
    .replace(TAG_SIGN, (sign, at: number) => (spellsHostTag(whole.slice(at + 1, at + 1 + TAG_WINDOW)) ? "‹" : sign))
    .replace(ADDRESS_LINE, (line, before: string, inside: string) =>
      spellsAddress(inside) ? `${before}\\[${inside}` : line,
    )
    .replace(ID_LINE, "$1‹$2›");
}

/** A display name for a speaker line: one line, no brackets or colons, at most 60 characters. */
export function untrustedName(name: string): string {
  const clean = name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
    .replace(/[\p{Ps}\p{Pe}<>＜＞﹤﹥:：﹕︰]/gu, "")
    .replace(/\s+/gu, " ")
    .trim();
  return [...clean].slice(0, 60).join("").trim() || "someone";
}

function spellsHostTag(after: string): boolean {
  const end = after.search(/[<＜﹤>＞﹥]/u);
  const letters = [...plain(end < 0 ? after : after.slice(0, end))].map((sign) => LOOKALIKES[sign] ?? sign).join("");
  return HOST_TAGS.some((tag) => letters.startsWith(tag));
}

function spellsAddress(inside: string): boolean {
  return /^t(?:b|\p{Nd}+)(?:u|[sa]\p{Nd}+)/u.test(plain(inside));
}

/** Letters and digits alone, in one width, without marks, lower case. */
function plain(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();
}
