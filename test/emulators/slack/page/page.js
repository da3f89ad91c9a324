/**
 * Draws the emulated workspace and sends what the developer does. Looks at the workspace twice a second and redraws
 * only what has changed; all text goes in as text nodes, so nothing a bot says can become markup.
 */
const view = { person: localStorage.getItem("person") ?? "", place: "", thread: "", drawn: {} };
let state = { people: [], apps: [], places: [], notices: [], modal: null };

const byId = (id) => document.getElementById(id);

/** Makes an element; children may be elements or text. */
function el(name, props = {}, ...children) {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

async function act(order) {
  const body = JSON.stringify({ person: view.person, place: view.place, ...order });
  const response = await fetch("/page/act", { method: "POST", headers: { "content-type": "application/json" }, body });
  const answer = await response.json();
  byId("problem").textContent = answer.problem ?? "";
  await refresh();
  return answer;
}

async function refresh() {
  const response = await fetch(`/page/state?person=${encodeURIComponent(view.person)}`);
  state = await response.json();
  if (!state.people.some((person) => person.id === view.person) && state.people[0]) {
    view.person = state.people[0].id;
    return refresh();
  }
  if (!state.places.some((place) => place.id === view.place)) view.place = state.places[0]?.id ?? "";
  draw();
}

/** Redraws a part when its data has changed; keeps scrolled-down logs at their end. */
function redraw(id, data, build) {
  const key = JSON.stringify(data);
  if (view.drawn[id] === key) return;
  view.drawn[id] = key;
  const target = byId(id);
  const atEnd = target.scrollTop + target.clientHeight >= target.scrollHeight - 40;
  target.replaceChildren(...build(data));
  if (atEnd) target.scrollTop = target.scrollHeight;
}

function draw() {
  byId("team").textContent = state.team;
  redraw("person", [state.people, view.person], ([people, chosen]) =>
    people.map((person) => el("option", { value: person.id, selected: person.id === chosen }, person.name)),
  );
  const offline = state.apps.filter((app) => !app.online).map((app) => app.id);
  redraw("places", [state.places.map(({ id, name }) => [id, name]), view.place, offline], ([places]) =>
    places.map(([id, name]) => el("li", {}, placeButton(id, name, offline.includes(id)))),
  );
  const place = state.places.find((item) => item.id === view.place);
  byId("title").textContent = place?.name ?? "No channel yet";
  const top = (place?.messages ?? []).filter((message) => !message.thread || message.thread === message.ts);
  const replies = (place?.messages ?? []).filter((message) => message.thread && message.thread !== message.ts);
  const notices = state.notices.filter((notice) => notice.place === view.place);
  const working = place?.working ?? [];
  redraw(
    "messages",
    [top, replies.map((reply) => reply.thread), notices.filter((notice) => !notice.thread), working],
    () => [
      ...top.map((message) => drawMessage(message, replies.filter((reply) => reply.thread === message.ts).length)),
      ...notices.filter((notice) => !notice.thread).map(drawNotice),
    ],
  );
  drawThread(top, replies, notices, working);
  drawModal();
}

function placeButton(id, name, off) {
  const button = el("button", { type: "button", className: off ? "off" : "", onclick: () => open(id) }, name);
  button.setAttribute("aria-current", String(id === view.place));
  return button;
}

function open(id) {
  Object.assign(view, { place: id, thread: "", drawn: {} });
  draw();
}

function drawThread(top, replies, notices, working) {
  byId("thread").hidden = view.thread === "";
  if (view.thread === "") return;
  const messages = [
    ...top.filter((message) => message.ts === view.thread),
    ...replies.filter((reply) => reply.thread === view.thread),
  ];
  const mine = notices.filter((notice) => notice.thread === view.thread);
  const busy = working.filter((line) => line.thread === view.thread);
  redraw("replies", [messages, mine, busy], () => [
    ...messages.map((message) => drawMessage(message)),
    ...mine.map(drawNotice),
    ...busy.map((line) => el("p", { className: "working" }, `${line.app} ${line.status}`)),
  ]);
}

function drawMessage(message, replyCount) {
  const time = new Date(Number(message.ts.split(".")[0]) * 1000).toLocaleTimeString();
  const openThread = () => {
    Object.assign(view, { thread: message.ts, drawn: { ...view.drawn, replies: "" } });
    draw();
  };
  const replies =
    replyCount === undefined
      ? null
      : el("button", { type: "button", onclick: openThread }, replyCount ? `${replyCount} replies` : "Reply");
  return el(
    "article",
    { className: "message" },
    el("span", { className: message.bot ? "by bot" : "by" }, message.author),
    el("time", {}, time),
    message.edited ? el("span", { className: "note" }, "(edited)") : null,
    message.bot && message.pings ? el("span", { className: "note" }, `pings ${message.pings}`) : null,
    ...message.parts.map((part) => drawPart(part, message)),
    drawFiles(message.files),
    message.reactions.length
      ? el("div", { className: "note" }, message.reactions.map((item) => `:${item.name}: ${item.count}`).join("  "))
      : null,
    replies,
  );
}

function drawNotice(notice) {
  return el(
    "div",
    { className: "message private" },
    el("span", { className: "note" }, `Only visible to you · ${notice.app}`),
    el("div", { className: "text" }, ...inline(notice.text)),
  );
}

function drawPart(part, message) {
  if (part.kind === "divider") return el("hr");
  if (part.kind === "image")
    return part.url ? el("img", { src: part.url, alt: part.text, style: "max-width:360px" }) : el("em", {}, part.text);
  if (part.kind === "table")
    return el("table", {}, ...part.rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell)))));
  const controls = el(
    "div",
    { className: "controls" },
    ...(part.controls ?? []).map((control) => drawControl(control, message)),
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

function drawControl(control, message) {
  const press = (choose = []) => act({ act: "press", ts: message.ts, index: control.index, choose });
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
    .split(/```\w*\n?/)
    .map((piece, index) => (index % 2 ? el("pre", {}, piece) : el("div", { className: "text" }, ...inline(piece))));
}

/** The few inline forms worth showing: code, bold, links, mentions. */
function inline(text) {
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

function drawModal() {
  const dialog = byId("modal");
  const { modal } = state;
  const key = modal ? modal.id + modal.hash : "";
  if (view.drawn.modal === key) return;
  view.drawn.modal = key;
  if (dialog.open) dialog.close();
  if (!modal) return;
  const fields = modal.inputs.map(drawInput);
  const form = el(
    "form",
    {},
    el("h2", {}, modal.title),
    ...modal.texts.map((text) => el("p", { className: "text" }, ...inline(text))),
    ...fields.map((field) => field.node),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    act({
      act: "submit",
      values: Object.fromEntries(
        fields.map((field) => [field.label, field.read()]).filter(([, value]) => value.length > 0),
      ),
    });
  };
  const close = () => act({ act: "close" });
  dialog.oncancel = close;
  form.append(el("button", { type: "button", onclick: close }, "Cancel"), " ");
  if (modal.submit) form.append(el("button", { className: "primary" }, modal.submit));
  dialog.replaceChildren(form);
  dialog.showModal();
}

function drawInput(input) {
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

function sendOnEnter(form, order) {
  form.onsubmit = (event) => {
    event.preventDefault();
    const text = form.elements.text.value.trim();
    if (text === "") return;
    form.reset();
    act({ act: "say", text, ...order() });
  };
  form.elements.text.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    form.requestSubmit();
  };
}

sendOnEnter(byId("say"), () => ({}));
sendOnEnter(byId("reply"), () => ({ thread: view.thread }));
byId("person").onchange = (event) => {
  Object.assign(view, { person: event.target.value, place: "", thread: "", drawn: {} });
  localStorage.setItem("person", view.person);
  refresh();
};
byId("join").onsubmit = async (event) => {
  event.preventDefault();
  const { id } = await act({ act: "join", name: event.target.elements.name.value });
  event.target.reset();
  if (id) Object.assign(view, { person: id, drawn: {} });
  await refresh();
};
byId("leave").onclick = () => {
  view.thread = "";
  draw();
};
byId("stop").onclick = () => act({ act: "stop", ts: view.thread });
await refresh();
setInterval(
  () => refresh().catch(() => Object.assign(byId("problem"), { textContent: "The emulator does not answer." })),
  500,
);
