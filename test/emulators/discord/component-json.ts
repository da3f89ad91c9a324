/**
 * Components as Discord gives them back: numbered, with the defaults filled in and `attachment://` replaced by the
 * address of the file.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText } from "../loopback.ts";
import { COMPONENT, walkComponents } from "./component-text.ts";

/** What Discord adds to a component that did not say it. */
const DEFAULTS: Readonly<Record<number, Fields>> = {
  [COMPONENT.stringSelect]: { min_values: 1, max_values: 1 },
  [COMPONENT.thumbnail]: { description: null, spoiler: false },
  [COMPONENT.file]: { spoiler: false },
  [COMPONENT.separator]: { divider: true, spacing: 1 },
  [COMPONENT.container]: { accent_color: null, spoiler: false },
};

/** The components of a stored message; `attachments` are the files they may show. */
export function componentsJson(list: unknown, attachments: readonly Fields[]): Fields[] {
  const components = withIds(asList(list));
  for (const item of walkComponents(components)) {
    Object.assign(item, { ...DEFAULTS[Number(item.type)], ...item });
    resolveMedia(item, attachments);
  }
  return components;
}

/** A copy in which every component has its number. */
function withIds(list: readonly unknown[]): Fields[] {
  const copy = structuredClone(list) as Fields[];
  const all = walkComponents(copy);
  const used = new Set(all.map((item) => item.id).filter((id) => typeof id === "number" && id > 0));
  let next = 1;
  for (const item of all) {
    if (typeof item.id === "number" && item.id > 0) continue;
    while (used.has(next)) next += 1;
    item.id = next;
    used.add(next);
  }
  return copy;
}

function resolveMedia(item: Fields, attachments: readonly Fields[]): void {
  if (item.type === COMPONENT.thumbnail) Object.assign(item, resolved(item, "media", attachments));
  if (item.type === COMPONENT.file) Object.assign(item, resolved(item, "file", attachments));
  if (item.type !== COMPONENT.gallery) return;
  item.items = asList(item.items).map((entry) => ({
    description: null,
    spoiler: false,
    ...resolved(asFields(entry), "media", attachments),
  }));
}

function resolved(item: Fields, key: "media" | "file", attachments: readonly Fields[]): Fields {
  const url = asText(asFields(item[key]).url);
  const name = url.startsWith("attachment://") ? url.slice("attachment://".length) : null;
  const found = attachments.find((attachment) => attachment.filename === name || attachment.url === url.split("?")[0]);
  if (!found) return { ...item, [key]: { id: "0", proxy_url: url, ...asFields(item[key]), loading_state: 2 } };
  const { id, content_type, width, height } = found;
  const sizes = { content_type, width, height, loading_state: 2 };
  const media = { id, url: found.url, proxy_url: found.url, attachment_id: id, ...sizes };
  return key === "file" ? { ...item, file: media, name: found.filename, size: found.size } : { ...item, media };
}
