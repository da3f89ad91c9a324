/**
 * What Discord refuses in slash commands: names, descriptions, options, and how many of them.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText } from "../loopback.ts";
import type { Complain } from "./refusal.ts";
import { checkInteger, checkList, checkText, problemList, refuseForm } from "./refusal.ts";

const NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
const MAX_OF_TYPE: Readonly<Record<number, number>> = { 1: 100, 2: 15, 3: 15 };

/** Refuses one command. */
export function checkCommand(command: Fields): void {
  const { problems, complain } = problemList();
  checkOne(complain, command, "");
  refuseForm(problems);
}

/** Refuses a set of commands: each by itself, double names, too many of a type. */
export function checkCommandList(commands: readonly Fields[]): void {
  const { problems, complain } = problemList();
  const seen = new Map<string, number>();
  const counts = new Map<number, number>();
  for (const [index, command] of commands.entries()) {
    checkOne(complain, command, `${index}.`);
    const type = Number(command.type ?? 1);
    const key = `${type}:${asText(command.name)}`;
    if (seen.has(key))
      complain(String(index), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique");
    seen.set(key, index);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  for (const [type, count] of counts) {
    if (count > (MAX_OF_TYPE[type] ?? 1))
      complain("", "BASE_TYPE_BAD_LENGTH", `At most ${MAX_OF_TYPE[type] ?? 1} commands`);
  }
  refuseForm(problems);
}

function checkOne(complain: Complain, command: Fields, at: string): void {
  checkInteger(complain, `${at}type`, command.type, { min: 1, max: 4 });
  const isSlash = (command.type ?? 1) === 1;
  checkText(complain, `${at}name`, command.name, { min: 1, max: 32, required: true });
  if (isSlash && typeof command.name === "string") checkName(complain, command.name, `${at}name`);
  if (isSlash) checkText(complain, `${at}description`, command.description, { min: 1, max: 100, required: true });
  else if (asText(command.description) !== "")
    complain(
      `${at}description`,
      "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION",
      "Context menu commands cannot have description",
    );
  checkOptions(complain, command.options, at);
}

function checkName(complain: Complain, name: string, at: string): void {
  if (!NAME.test(name) || name !== name.toLowerCase()) complain(at, "STRING_TYPE_REGEX", "Command name is invalid");
}

function checkOptions(complain: Complain, value: unknown, at: string): void {
  const options = checkList(complain, `${at}options`, value, { max: 25 }).map(asFields);
  let optional = false;
  for (const [index, option] of options.entries()) {
    const path = `${at}options.${index}`;
    checkInteger(complain, `${path}.type`, option.type, { min: 1, max: 11, required: true });
    checkText(complain, `${path}.name`, option.name, { min: 1, max: 32, required: true });
    if (typeof option.name === "string") checkName(complain, option.name, `${path}.name`);
    checkText(complain, `${path}.description`, option.description, { min: 1, max: 100, required: true });
    if (option.required === true && optional)
      complain(
        path,
        "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
        "Required options must be placed before non-required options",
      );
    optional ||= option.required !== true;
    for (const [number, choice] of checkList(complain, `${path}.choices`, option.choices, { max: 25 }).entries())
      checkText(complain, `${path}.choices.${number}.name`, asFields(choice).name, {
        min: 1,
        max: 100,
        required: true,
      });
    checkOptions(complain, option.options, `${path}.`);
  }
}
