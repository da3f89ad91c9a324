/**
 * People at the controls: pressing buttons, choosing options, filling modals, sending slash commands.
 * Invariant: as on screen, a disabled control, a missing option or a too long input cannot be used, unless `force`
 * stands for somebody with an old screen or a tool of their own.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText } from "../loopback.ts";
import type { Control } from "./component-text.ts";
import { COMPONENT, controlsOf } from "./component-text.ts";
import type { InteractionResult } from "./interactions.ts";
import { interact } from "./interactions.ts";
import type { Bot, Channel, OpenModal, StoredMessage, User } from "./model.ts";
import type { Located } from "./people.ts";
import { located } from "./people.ts";
import type { Post } from "./posts.ts";
import { userJson } from "./wire.ts";
import type { World } from "./world.ts";

/** Which control: its label or custom id, a pattern for the label, its number, or a test of your own. */
export type Which = string | RegExp | number | ((control: Control) => boolean);

/** `force`: past what the screen would allow; with a `Post`, its controls as they were when it was read. */
export interface ControlOptions {
  force?: boolean;
}

/** Presses a button; resolves when the application answered or failed to. */
export function press(
  world: World,
  person: User,
  place: Located | Post,
  which: Which,
  options: ControlOptions = {},
): Promise<InteractionResult> {
  const { message, control } = controlAt(place, which, options);
  if (control.url !== null) throw new Error(`"${control.label}" is a link: it sends nothing`);
  return use(world, person, message, { component_type: control.type, custom_id: control.customId, id: control.id });
}

/** Chooses options (by label or value) in a select. */
export function choose(
  world: World,
  person: User,
  place: Located | Post,
  chosen: readonly string[],
  which: Which = (control) => control.kind === "select",
  options: ControlOptions = {},
): Promise<InteractionResult> {
  const { message, control } = controlAt(place, which, options);
  const tooFew = chosen.length < control.min || chosen.length > control.max;
  if (tooFew && !options.force) throw new Error(`"${control.label}" takes ${control.min} to ${control.max} options`);
  const data = { component_type: control.type, custom_id: control.customId, id: control.id };
  return use(world, person, message, { ...data, ...valuesOf(world, control, chosen, options.force === true) });
}

function valuesOf(world: World, control: Control, chosen: readonly string[], force: boolean): Fields {
  if (control.type === COMPONENT.userSelect) {
    const users = chosen.flatMap((id) => world.users.get(id) ?? []);
    return { values: chosen, resolved: { users: Object.fromEntries(users.map((user) => [user.id, userJson(user)])) } };
  }
  if (control.type !== COMPONENT.stringSelect) return { values: chosen, resolved: {} };
  const values = chosen.map((wanted) => {
    const option = control.options.find(({ label, value }) => label === wanted || value === wanted);
    if (!option && !force)
      throw new Error(`no option "${wanted}"; there are: ${control.options.map(({ label }) => label).join(", ")}`);
    return option?.value ?? wanted;
  });
  return { values };
}

function controlAt(
  place: Located | Post,
  which: Which,
  { force }: ControlOptions,
): { message: StoredMessage; control: Control } {
  const message = located(place);
  if (message.deleted && !force) throw new Error("the message is gone");
  const seen = force && "controls" in place ? place.controls : controlsOf(message.body.components);
  const control = findControl(seen, which);
  if (control.disabled && !force) throw new Error(`"${control.label}" is disabled`);
  return { message, control };
}

function findControl(controls: readonly Control[], which: Which): Control {
  const found = typeof which === "number" ? controls[which] : controls.find((control) => fits(control, which));
  if (found) return found;
  const there = controls.map(({ kind, label, disabled }) => `${kind} "${label}"${disabled ? " (off)" : ""}`).join(", ");
  throw new Error(`no control ${String(which)}; there are: ${there || "none"}`);
}

function fits(control: Control, which: Exclude<Which, number>): boolean {
  if (typeof which === "function") return which(control);
  if (which instanceof RegExp) return which.test(control.label);
  return control.label === which || control.customId === which;
}

function use(world: World, person: User, message: StoredMessage, data: Fields): Promise<InteractionResult> {
  const { bot, channel } = message;
  if (!bot) throw new Error("the message is not a bot's");
  return interact(world, { bot, person, channel, message, kind: 3, data });
}

/** The modal on a person's screen, the newest first. */
export function openModal(world: World, person: User): OpenModal | null {
  return world.modals.findLast((modal) => modal.open && modal.person === person) ?? null;
}

/** Fills the open modal by label or custom id and submits it; `by` forges another sender. */
export function submit(
  world: World,
  person: User,
  values: Readonly<Record<string, string | readonly string[]>>,
  options: { by?: User; force?: boolean; modal?: OpenModal } = {},
): Promise<InteractionResult> {
  const modal = options.modal ?? openModal(world, person);
  if (!modal) throw new Error(`${person.name} has no modal`);
  const components = asList(modal.data.components).map((part, index) =>
    filled(asFields(part), index + 1, values, options.force === true),
  );
  modal.open = false;
  const { bot, channel, message } = modal.interaction;
  const data = { custom_id: modal.data.custom_id, components };
  return interact(world, { bot, person: options.by ?? person, channel, message, kind: 5, data });
}

/** Closes the modal: the application hears nothing. */
export function closeModal(world: World, person: User): void {
  const modal = openModal(world, person);
  if (modal) modal.open = false;
}

function filled(
  part: Fields,
  id: number,
  values: Readonly<Record<string, string | readonly string[]>>,
  force: boolean,
): Fields {
  if (part.type === COMPONENT.text) return { type: COMPONENT.text, id };
  if (part.type === COMPONENT.row)
    return {
      type: COMPONENT.row,
      id,
      components: asList(part.components).map((input) =>
        entered(asFields(input), asText(asFields(input).label), values, force),
      ),
    };
  return { type: COMPONENT.label, id, component: entered(asFields(part.component), asText(part.label), values, force) };
}

function entered(
  input: Fields,
  label: string,
  values: Readonly<Record<string, string | readonly string[]>>,
  force: boolean,
): Fields {
  const customId = asText(input.custom_id);
  const given = values[label] ?? values[customId] ?? (input.type === COMPONENT.textInput ? asText(input.value) : []);
  const common = { type: input.type, id: 1, custom_id: customId };
  if (input.type === COMPONENT.textInput) {
    const text = String(given);
    if (!force) checkEntered(input, label, text);
    return { ...common, value: text };
  }
  const list = typeof given === "string" ? [given] : given;
  const options = asList(input.options).map(asFields);
  const chosen = list.map((wanted) => asText(options.find((option) => option.label === wanted)?.value) || wanted);
  return input.type === COMPONENT.radio ? { ...common, value: chosen[0] ?? null } : { ...common, values: chosen };
}

function checkEntered(input: Fields, label: string, text: string): void {
  if (input.required !== false && text === "") throw new Error(`"${label}" must be filled`);
  const length = [...text].length;
  if (text !== "" && (length < Number(input.min_length ?? 0) || length > Number(input.max_length ?? 4000)))
    throw new Error(`"${label}" does not take ${length} characters`);
}

/** A person sends a slash command; options by name. The command must be registered, for this guild or globally. */
export function sendCommand(
  world: World,
  person: User,
  channel: Channel,
  bot: Bot,
  name: string,
  options: Readonly<Record<string, string | number | boolean>> = {},
): Promise<InteractionResult> {
  const all = [...(bot.commands.get(channel.guild?.id ?? "-") ?? []), ...(bot.commands.get("") ?? [])];
  const [base = "", ...path] = name.split(" ");
  const command = all.find((candidate) => candidate.name === base);
  if (!command)
    throw new Error(
      `${bot.name} has no command /${base}; it has: ${all.map((known) => asText(known.name)).join(", ") || "none"}`,
    );
  const data = { id: command.id, name: base, type: 1, options: nestOptions(command, path, options) };
  return interact(world, { bot, person, channel, message: null, kind: 2, data });
}

/** `group on` becomes a subcommand with the options inside. */
function nestOptions(command: Fields, path: readonly string[], options: Readonly<Record<string, unknown>>): Fields[] {
  const known = asList(command.options).map(asFields);
  const [next, ...rest] = path;
  if (next !== undefined) {
    const sub = known.find((option) => option.name === next);
    if (!sub) throw new Error(`no subcommand ${next}`);
    return [{ name: next, type: sub.type, options: nestOptions(sub, rest, options) }];
  }
  return Object.entries(options).map(([name, value]) => ({
    name,
    type: known.find((option) => option.name === name)?.type ?? 3,
    value,
  }));
}
