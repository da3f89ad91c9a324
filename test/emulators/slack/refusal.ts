/**
 * A refusal as Slack words it: a code, and for some codes the reasons in `errors` or `response_metadata.messages`.
 * Handlers throw it; `api.ts` turns it into the answer and records it.
 */
import type { Fields } from "../loopback.ts";

/** Thrown by a method handler to answer `ok:false`. */
export class SlackRefusal extends Error {
  readonly code: string;
  readonly extra: Fields;
  constructor(code: string, extra: Fields = {}) {
    super(code);
    this.code = code;
    this.extra = extra;
  }
}

/** One broken rule: where (JSON pointer) and what. */
export interface Problem {
  readonly pointer: string;
  readonly message: string;
}

/** Refuses with a code. */
export function refuse(code: string, extra: Fields = {}): never {
  throw new SlackRefusal(code, extra);
}

/** Refuses `invalid_arguments` with Slack's `[ERROR] …` lines. */
export function refuseArguments(...messages: string[]): never {
  return refuse("invalid_arguments", { response_metadata: { messages: messages.map((text) => `[ERROR] ${text}`) } });
}

/** Refuses with the broken rules as Slack lists them, each with its JSON pointer. */
export function refuseProblems(code: string, problems: readonly Problem[]): never {
  const errors = problems.map((problem) => `${problem.message} [json-pointer:${problem.pointer}]`);
  return refuse(code, { errors, response_metadata: { messages: errors.map((text) => `[ERROR] ${text}`) } });
}
