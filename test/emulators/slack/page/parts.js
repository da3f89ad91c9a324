/**
 * Draws the parts of the page: messages with their blocks, files and controls, private notices, fields of a modal.
 * Everything a bot or person wrote goes in as text nodes. What a press does is handed in.
 */

/** Makes an element; children may be elements or text. */
export function el(name, props = {}, ...children) {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** One message. `hands.press` presses a control, `hands.open` opens its thread (with a count of replies: at the channel level). */
export function drawMessage(message, hands, replyCount) {
  const time = new Date(Number(message.ts.split(".")[0]) * 1000).toLocaleTimeString();
  const replies =
    replyCount === undefined
      ? null
      : el(
          "button",
          { type: "button", onclick: () => hands.open(message.ts) },
          replyCount ? `${replyCount} ${replyCount === 1 ? "reply" : "replies"}` : "Reply",
        );
  return el(
    "article",
    { className: "message" },
    el("span", { className: message.bot ? "by bot" : "by" }, message.author),
    el("time", {}, time),
    message.edited ? el("span", { className: "note" }, "(edited)") : null,
    message.bot && message.pings ? el("span", { className: "note" }, `pings ${message.pings}`) : null,
    ...message.parts.map((part) => drawPart(part, message, hands)),
    drawFiles(message.files),
    message.reactions.length
      ? el("div", { className: "note" }, message.reactions.map((item) => `:${item.name}: ${item.count}`).join("  "))
      : null,
    replies,
  );
}

/** A notice only this person sees. */
export function drawNotice(notice) {
  return el(
    "div",
    { className: "message private" },
    el("span", { className: "note" }, `Only visible to you · ${notice.app}`),
    el("div", { className: "text" }, ...inline(notice.text)),
  );
}

function drawPart(part, message, hands) {
  if (part.kind === "divider") return el("hr");
  if (part.kind === "image")
    return part.url ? el("img", { src: part.url, alt: part.text, style: "max-width:360px" }) : el("em", {}, part.text);
  if (part.kind === "table")
    return el("table", {}, ...part.rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell)))));
  const controls = el(
    "div",
    { className: "controls" },
    ...(part.controls ?? []).map((control) => drawControl(control, message, hands)),
  );
  if (part.kind === "card")
    return el(
      "div",
      { className: "card" },
      ...part.lines.map((line) => el("div", { className: "text" }, ...inline(line))),
      controls,
    );
  return el(
    "div",
    { className: part.kind },
    ...(part.text ? blocksOfText(part.text) : []),
    part.controls?.length ? controls : null,
  );
}

function drawFiles(files) {
  const link = (file) => `/page/file?id=${encodeURIComponent(file.id)}`;
  const show = (file) =>
    file.image ? el("img", { src: link(file), alt: file.alt || file.title }) : `📄 ${file.title || file.name}`;
  return el(
    "div",
    { className: "files" },
    ...files.map((file) => el("a", { href: link(file), target: "_blank" }, show(file))),
  );
}

function drawControl(control, message, hands) {
  const press = (choose = []) => hands.press(message.ts, control.index, choose);
  if (control.type === "button") {
    const open = () => (control.url ? window.open(control.url, "_blank", "noopener") : null);
    return el(
      "button",
      { type: "button", className: control.style ?? "", onclick: () => [open(), press()] },
      control.label,
    );
  }
  const many = control.type === "checkboxes" || control.type.startsWith("multi_");
  if (control.type === "checkboxes" || control.type === "radio_buttons") {
    const group = el("fieldset");
    const chosen = () => [...group.querySelectorAll("input:checked")].map((input) => input.value);
    const input = (option) =>
      el("input", {
        type: many ? "checkbox" : "radio",
        name: `c${message.ts}-${control.index}`,
        value: option.value,
        onchange: () => press(chosen()),
      });
    group.append(...control.options.map((option) => el("label", {}, input(option), ` ${option.label} `)));
    return group;
  }
  const select = el("select", {
    multiple: many,
    onchange: () => press([...select.selectedOptions].map((option) => option.value).filter(Boolean)),
  });
  select.append(
    ...(many ? [] : [el("option", { value: "" }, control.label || "Choose…")]),
    ...control.options.map((option) => el("option", { value: option.value }, option.label)),
  );
  return select;
}

/** Fenced code becomes preformatted, the rest running text. */
function blocksOfText(text) {
  return text
    .split(/\n*```\w*\n*/)
    .map((piece, index) => (index % 2 ? el("pre", {}, piece) : el("div", { className: "text" }, ...inline(piece))));
}

/** The few inline forms worth showing: code, bold, links, mentions. */
export function inline(text) {
  const parts = text.split(
    /(`[^`\n]+`|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\(https?:[^)\s]+\)|https?:\/\/[^\s)]+|@[\p{L}\w-]+)/u,
  );
  return parts.map((part, index) => (index % 2 === 0 ? part : inlinePart(part)));
}

function inlinePart(part) {
  if (part.startsWith("`")) return el("code", {}, part.slice(1, -1));
  if (part.startsWith("**")) return el("strong", {}, part.slice(2, -2));
  if (part.startsWith("@")) return el("span", { className: "mention" }, part);
  const link = /^\[(.+)\]\((.+)\)$/.exec(part);
  return el("a", { href: link?.[2] ?? part, target: "_blank", rel: "noopener" }, link?.[1] ?? part);
}

/** One field of a modal: its element and how to read it. */
export function drawInput(input) {
  const many = input.type === "checkboxes" || input.type.startsWith("multi_");
  const isChoice = input.options.length > 0;
  const control = isChoice
    ? el("select", { multiple: many })
    : el(input.multiline ? "textarea" : "input", { value: input.value });
  control.append(...input.options.map((option) => el("option", { value: option.value }, option.label)));
  const read = () => (isChoice && many ? [...control.selectedOptions].map((option) => option.value) : control.value);
  return {
    label: input.label,
    read,
    node: el("label", {}, `${input.label}${input.optional ? " (optional)" : ""}`, control),
  };
}
