/**
 * Extensions, media types and labels of files (SPEC M6): the tables, and the cleaning of names that people and servers gave.
 * Invariant: nothing here opens a path; a cleaned name is a label. What the bytes say is left to file-kinds.
 */

/** Bytes nobody knows more about. */
export const OCTETS = "application/octet-stream";

/** Kinds that are text, by extension: nothing in their bytes tells them apart. */
export const TEXT_TYPES: ReadonlyMap<string, string> = new Map([
  ...[
    "txt",
    "log",
    "ini",
    "cfg",
    "conf",
    "toml",
    "sql",
    "sh",
    "bat",
    "ps1",
    "diff",
    "patch",
    "rst",
    "tex",
    "srt",
    "properties",
  ].map((ext) => [ext, "text/plain"] as const),
  ...[
    "py",
    "rb",
    "go",
    "rs",
    "java",
    "kt",
    "swift",
    "c",
    "h",
    "cc",
    "cpp",
    "hpp",
    "cs",
    "pl",
    "lua",
    "r",
    "scala",
    "ts",
    "tsx",
    "jsx",
  ].map((ext) => [ext, "text/plain"] as const),
  ...["php", "vue", "svelte", "astro", "jsp", "erb", "ejs", "hbs", "j2", "tmpl", "mustache"].map(
    (ext) => [ext, "text/plain"] as const,
  ),
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["tsv", "text/tab-separated-values"],
  ["json", "application/json"],
  ["ipynb", "application/json"],
  ["geojson", "application/geo+json"],
  ["jsonl", "application/x-ndjson"],
  ["ndjson", "application/x-ndjson"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["xml", "application/xml"],
  ["svg", "image/svg+xml"],
  ["css", "text/css"],
  ["js", "text/javascript"],
  ["mjs", "text/javascript"],
  ["cjs", "text/javascript"],
  ["ics", "text/calendar"],
  ["vcf", "text/vcard"],
  ["vtt", "text/vtt"],
  ["html", "text/html"],
  ["xhtml", "application/xhtml+xml"],
]);

/** Kinds recognised by their bytes, by extension. */
export const BINARY_TYPES: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["avif", "image/avif"],
  ["heic", "image/heic"],
  ["bmp", "image/bmp"],
  ["tif", "image/tiff"],
  ["pdf", "application/pdf"],
  ["rtf", "application/rtf"],
  ["zip", "application/zip"],
  ["gz", "application/gzip"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
  ["odt", "application/vnd.oasis.opendocument.text"],
  ["ods", "application/vnd.oasis.opendocument.spreadsheet"],
  ["odp", "application/vnd.oasis.opendocument.presentation"],
  ["epub", "application/epub+zip"],
  ["doc", "application/msword"],
  ["xls", "application/vnd.ms-excel"],
  ["ppt", "application/vnd.ms-powerpoint"],
  ["mp4", "video/mp4"],
  ["mov", "video/quicktime"],
  ["webm", "video/webm"],
  ["mkv", "video/matroska"],
  ["avi", "video/vnd.avi"],
  ["mp3", "audio/mpeg"],
  ["m4a", "audio/mp4"],
  ["wav", "audio/wav"],
  ["ogg", "audio/ogg"],
  ["flac", "audio/flac"],
]);

/** Spellings of the same extension. */
export const EXTENSION_ALIASES: ReadonlyMap<string, string> = new Map([
  ["jpeg", "jpg"],
  ["jpe", "jpg"],
  ["jfif", "jpg"],
  ["apng", "png"],
  ["tiff", "tif"],
  ["htm", "html"],
  ["markdown", "md"],
  ["text", "txt"],
  ["tar.gz", "gz"],
  ["tgz", "gz"],
]);

/** Media type that goes with a stored extension; octets when the table does not know it. */
export function mediaTypeFor(ext: string): string {
  return TEXT_TYPES.get(ext) ?? BINARY_TYPES.get(ext) ?? OCTETS;
}

/** Lower-case extension of a label without dot, common variants folded (`jpeg` is `jpg`); "" when there is none or it is not a plain word. */
export function extensionOf(fileName: string): string {
  const base = fileName.split(/[\\/]/).at(-1) ?? "";
  const dot = base.lastIndexOf(".");
  const ext = dot <= 0 ? "" : base.slice(dot + 1).toLowerCase();
  return /^[a-z0-9]{1,10}$/.test(ext) ? (EXTENSION_ALIASES.get(ext) ?? ext) : "";
}

/** The extension for a claimed media type, for downloads without a name; "" when it says nothing (octets, plain text) or is unknown. */
export function extensionForType(claimed: string): string {
  const mediaType = claimed.split(";")[0]?.trim().toLowerCase() ?? "";
  if (mediaType === "text/plain" || mediaType === OCTETS) return "";
  for (const [ext, type] of [...BINARY_TYPES, ...TEXT_TYPES]) if (type === mediaType) return ext;
  return "";
}

/**
 * A label for people: path parts, control and direction characters removed, at most 120 characters, ending in the extension the bytes were stored
 * under. Never used to open anything.
 */
export function toFileLabel(fileName: string, ext: string): string {
  const base = fileName.split(/[\\/]/).at(-1) ?? "";
  const clean = base
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
    .replace(/\s+/g, " ")
    .replace(/^[.\s]+/, "")
    .trim();
  if (clean === "") return `file.${ext}`;
  const fits = extensionOf(clean) === ext || (ext === "gz" && /\.tgz$/i.test(clean));
  const stem = fits ? clean.slice(0, clean.lastIndexOf(".")) : clean;
  const suffix = fits ? clean.slice(clean.lastIndexOf(".")) : `.${ext}`;
  return [...stem].slice(0, 120 - suffix.length).join("") + suffix;
}
