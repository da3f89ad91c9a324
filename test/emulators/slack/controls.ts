/**
 * A person's hands: pressing buttons, choosing options, filling in and submitting modals.
 * Invariant: only what is on screen can be pressed; what Slack's own client would not let a person submit (an empty
 * required field, a text that is too long) throws instead of being sent.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText } from "../loopback.ts";
import type { Control } from "./block-text.ts";
import { controlsOf, readableBlocks, readableElement } from "./block-text.ts";
import type { InteractionResult } from "./interactions.ts";
import { interact } from "./interactions.ts";
import { copyBody } from "./messages.ts";
import { describeView, replaceView, showView } from "./methods/views.ts";
import type { App, StoredMessage, StoredView, User } from "./model.ts";
import type { Located } from "./people.ts";
import { located } from "./people.ts";
import type { Post } from "./posts.ts";
import { checkView } from "./view-rules.ts";
import type { Workspace } from "./workspace.ts";
import { newTs } from "./workspace.ts";

/** Which control: its label, action id or value, a position, or a test. */
export type Which = string | number | RegExp | ((control: Control) => boolean);

/** What is chosen or typed; `stale` presses what the given post showed, although the message has changed since. */
export interface PressOptions {
  choose?: string | readonly string[];
  type?: string;
  stale?: boolean;
}

/** A modal as its reader sees it. */
export interface Modal {
  readonly id: string;
  readonly app: App;
  readonly title: string;
  readonly text: string;
  readonly callbackId: string;
  readonly privateMetadata: string;
  readonly inputs: Control[];
  readonly body: Fields;
}

/** The outcome of a submit: `errors` by block id when the app refused the values. */
export interface SubmitResult extends InteractionResult {
  readonly errors: Record<string, string> | null;
}

/** Presses, chooses or types on a message's control and waits for the app's acknowledgement. */
export function press(
  workspace: Workspace,
  person: User,
  place: Located | Post,
  which: Which,
  options: PressOptions = {},
): Promise<InteractionResult> {
  const message = located(place);
  if (message.deleted) throw new Error("the message was deleted; nobody can press it");
  const shown = options.stale && "controls" in place ? place.controls : controlsOf(message.body.blocks ?? []);
  const control = findControl(shown, which);
  if (!message.app) throw new Error("only an app's message has controls");
  const action = toAction(workspace, control, options);
  if (control.type !== "button" && control.type !== "overflow") remember(message, control, action);
  const { channel } = message;
  const thread = message.body.thread_ts ? { thread_ts: message.body.thread_ts } : {};
  const payload: Fields = {
    type: "block_actions",
    container: { type: "message", message_ts: message.body.ts, channel_id: channel.id, is_ephemeral: false, ...thread },
    channel: { id: channel.id, name: channel.name },
    message: copyBody(message),
    state: { values: structuredClone(message.values) },
    actions: [action],
  };
  return interact(workspace, message.app, person, payload, { channel, message });
}

function findControl(controls: readonly Control[], which: Which): Control {
  const found = controls.find((control, index) => {
    if (typeof which === "number") return index === which;
    if (typeof which === "function") return which(control);
    if (which instanceof RegExp) return which.test(control.label);
    return control.label === which || control.actionId === which || control.value === which;
  });
  if (found) return found;
  const seen = controls.map((control) => `${control.type} "${control.label}"`).join(", ");
  throw new Error(`no control ${String(which)}; on screen: ${seen || "none"}`);
}

/** Keeps what an input shows, so that a later press carries it in `state`. */
function remember(message: StoredMessage, control: Control, action: Fields): void {
  const { action_id: _action, block_id: _block, action_ts: _ts, ...value } = action;
  message.values[control.blockId] = { ...message.values[control.blockId], [control.actionId]: value };
}

function toAction(workspace: Workspace, control: Control, options: PressOptions): Fields {
  const base = {
    type: control.type,
    action_id: control.actionId,
    block_id: control.blockId,
    action_ts: newTs(workspace),
  };
  if (control.type !== "button") return { ...base, ...toValue(control, options.choose, options.type) };
  const value = control.value === null ? {} : { value: control.value };
  return { ...base, text: control.element.text, ...value, ...(control.style ? { style: control.style } : {}) };
}

const MANY = ["multi_static_select", "checkboxes"];
const ONE = ["static_select", "radio_buttons", "overflow"];

function toValue(control: Control, choose: PressOptions["choose"], typed: string | undefined): Fields {
  const wanted = choose === undefined ? [] : [choose].flat();
  if (ONE.includes(control.type)) return { selected_option: wanted[0] === undefined ? null : pick(control, wanted[0]) };
  if (MANY.includes(control.type)) return { selected_options: wanted.map((label) => pick(control, label)) };
  if (control.type.endsWith("users_select"))
    return control.type.startsWith("multi") ? { selected_users: wanted } : { selected_user: wanted[0] ?? null };
  return { value: typed ?? null };
}

function pick(control: Control, label: string): Fields {
  const option = control.options.find((candidate) => candidate.label === label || candidate.value === label);
  if (option) return option.raw;
  throw new Error(
    `no option "${label}"; on screen: ${control.options.map((candidate) => candidate.label).join(" | ") || "none"}`,
  );
}

/** The topmost open modal of a person, or null. */
export function topView(workspace: Workspace, person: User): StoredView | null {
  return workspace.views.findLast((view) => view.open && view.user === person && view.body.type === "modal") ?? null;
}

/** How a modal looks. */
export function toModal(view: StoredView): Modal {
  const blocks = asList(view.body.blocks);
  return {
    id: view.id,
    app: view.app,
    title: readableElement(view.body.title),
    text: readableBlocks(blocks),
    callbackId: asText(view.body.callback_id),
    privateMetadata: asText(view.body.private_metadata),
    inputs: controlsOf(blocks).filter((control) => control.type !== "button"),
    body: structuredClone(view.body),
  };
}

/** Values for a modal: one text (first input), a list in order, or by label, action id or block id. */
export type ModalValues = string | readonly (string | readonly string[])[] | Record<string, string | readonly string[]>;

/** Fills in and submits the person's topmost modal. */
export async function submit(
  workspace: Workspace,
  person: User,
  values: ModalValues,
  by: User = person,
): Promise<SubmitResult> {
  const view = topView(workspace, person);
  if (!view) throw new Error(`${person.name} has no open modal`);
  const state: Record<string, Fields> = {};
  for (const [index, input] of toModal(view).inputs.entries()) {
    const given = valueFor(input, values, index);
    checkTyped(input, given);
    const typed = typeof given === "string" ? given : asText(input.element.initial_value) || undefined;
    const value = { type: input.type, ...toValue(input, given, typed) };
    state[input.blockId] = { ...state[input.blockId], [input.actionId]: value };
  }
  const payload = { type: "view_submission", view: describeView(view, state), response_urls: [] };
  const result = await interact(workspace, view.app, by, payload, { view });
  return { ...result, errors: result.acknowledged ? applyResponse(workspace, view, result.response) : null };
}

function valueFor(input: Control, values: ModalValues, index: number): string | readonly string[] | undefined {
  if (typeof values === "string") return index === 0 ? values : undefined;
  if (Array.isArray(values)) return values[index];
  const named = values as Record<string, string | readonly string[]>;
  return named[input.label] ?? named[input.actionId] ?? named[input.blockId];
}

/** The checks Slack's client makes before it sends anything. */
function checkTyped(input: Control, given: string | readonly string[] | undefined): void {
  const text = typeof given === "string" ? given : asText(input.element.initial_value);
  const chosen = Array.isArray(given) ? given.length > 0 : text !== "";
  if (!input.optional && !chosen && input.element.initial_option === undefined)
    throw new Error(`"${input.label}" must be filled in`);
  if (!input.type.endsWith("_input")) return;
  const max = Number(input.element.max_length ?? 3000);
  if (text.length > max) throw new Error(`"${input.label}" takes at most ${max} characters`);
  if (text !== "" && text.length < Number(input.element.min_length ?? 0))
    throw new Error(`"${input.label}" is too short`);
}

/** Does what the acknowledgement asked for; returns the errors to show, if any. */
function applyResponse(workspace: Workspace, view: StoredView, response: Fields): Record<string, string> | null {
  const action = response.response_action;
  if (action === "errors") return checkErrors(view, asFields(response.errors));
  if (action === "update" || action === "push") {
    const problems = checkView(response.view);
    if (problems.length > 0) throw new Error(`the answered view is invalid: ${JSON.stringify(problems)}`);
    if (action === "update") replaceView(view, asFields(response.view));
    else showView(workspace, { app: view.app, user: view.user, body: asFields(response.view), below: view });
    return null;
  }
  for (const other of workspace.views) if (action === "clear" && other.rootId === view.rootId) other.open = false;
  view.open = false;
  return null;
}

function checkErrors(view: StoredView, errors: Fields): Record<string, string> {
  const inputs = asList(view.body.blocks)
    .map(asFields)
    .filter((block) => block.type === "input")
    .map((block) => asText(block.block_id));
  const entries = Object.entries(errors).map(([block, text]) => [block, asText(text)] as const);
  const stray = entries.find(([block, text]) => !inputs.includes(block) || text === "");
  if (stray || entries.length === 0)
    throw new Error(`errors must name input blocks with a text: ${JSON.stringify(errors)}`);
  return Object.fromEntries(entries);
}

/** Closes the topmost modal; the app hears of it when the view asked for that. */
export async function closeModal(workspace: Workspace, person: User): Promise<void> {
  const view = topView(workspace, person);
  if (!view) return;
  view.open = false;
  if (view.body.notify_on_close !== true) return;
  await interact(
    workspace,
    view.app,
    person,
    { type: "view_closed", view: describeView(view), is_cleared: false },
    { view },
  );
}
