/** A round mark with initials; the colour follows from the id, so a person or bot looks the same everywhere. */

/** Initials on a colour. Decoration: the name stands beside it. */
export function Avatar({ id, name, bot }: { id: string; name: string; bot?: boolean }) {
  return (
    <span class={`avatar hue-${hueOf(id)}${bot ? " bot" : ""}`} aria-hidden="true">
      {initialsOf(name)}
    </span>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return letters.map((word) => [...(word ?? "")][0]?.toLocaleUpperCase() ?? "").join("");
}

/** FNV-1a spreads short, similar ids well over the eight colours. */
function hueOf(id: string): number {
  let hash = 0x811c9dc5;
  for (const char of id) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 8) % 8;
}
