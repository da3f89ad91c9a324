/**
 * Draws the emulated workspace and sends what the developer does. Looks at the workspace twice a second and redraws
 * only what has changed; all text goes in as text nodes, so nothing a bot says can become markup.
 */
import { drawInput, drawMessage, drawNotice, el, inline } from "./parts.js";

const view = { person: localStorage.getItem("person") ?? "", place: "", thread: "", drawn: {} };
let state = { people: [], apps: [], places: [], notices: [], modal: null };

const byId = (id) => document.getElementById(id);

const hands = {
  press: (ts, index, choose) => act({ act: "press", ts, index, choose }),
  open: (thread) => {
    Object.assign(view, { thread, drawn: { ...view.drawn, replies: "" } });
    draw();
  },
};

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
      ...top.map((message) =>
        drawMessage(message, hands, replies.filter((reply) => reply.thread === message.ts).length),
      ),
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
    ...messages.map((message) => drawMessage(message, hands)),
    ...mine.map(drawNotice),
    ...busy.map((line) => el("p", { className: "working" }, `${line.app} ${line.status}`)),
  ]);
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
