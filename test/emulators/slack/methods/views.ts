/**
 * Modals: opening, pushing, updating. A modal needs a trigger, which lives three seconds and works once; up to three
 * modals stack.
 * Invariant: nothing is shown when a view breaks a rule. What people do with a modal is `interactions.ts`.
 */
import type { Fields } from "../../loopback.ts";
import { asFields, asList, asText } from "../../loopback.ts";
import type { Call, Method } from "../call.ts";
import { requireArguments } from "../call.ts";
import { withBlockIds } from "../messages.ts";
import type { StoredView, Trigger, User } from "../model.ts";
import { refuse, refuseArguments, refuseProblems } from "../refusal.ts";
import { checkView } from "../view-rules.ts";
import type { Workspace } from "../workspace.ts";
import { newId } from "../workspace.ts";

const MAX_STACK = 3;

/** The methods of this family. */
export const VIEW_METHODS: Readonly<Record<string, Method>> = {
  "views.open": { scopes: [], run: openView },
  "views.push": { scopes: [], run: pushView },
  "views.update": { scopes: [], run: updateView },
  "views.publish": { scopes: [], run: publishView },
};

function readView(call: Call, type: "modal" | "home"): Fields {
  requireArguments(call.args, "view");
  const problems = checkView(call.args.view);
  if (problems.length > 0) refuseProblems("invalid_arguments", problems);
  const view = asFields(call.args.view);
  if (view.type !== type) refuseArguments(`must be ${type} [json-pointer:/view/type]`);
  return view;
}

function takeTrigger(call: Call): Trigger {
  requireArguments(call.args, "trigger_id");
  const trigger = call.workspace.triggers.get(asText(call.args.trigger_id));
  if (!trigger || trigger.app !== call.app) return refuse("invalid_trigger_id");
  if (trigger.used) refuse("exchanged_trigger_id");
  if (Date.now() - trigger.at > call.workspace.timing.triggerMs) refuse("expired_trigger_id");
  trigger.used = true;
  return trigger;
}

function openView(call: Call): Fields {
  const body = readView(call, "modal");
  const trigger = takeTrigger(call);
  const view = showView(call.workspace, { app: call.app, user: trigger.user, body, below: null });
  return { view: describeView(view) };
}

function pushView(call: Call): Fields {
  const body = readView(call, "modal");
  const trigger = takeTrigger(call);
  if (!trigger.view) return refuse("no_open_view");
  const stack = call.workspace.views.filter((view) => view.open && view.rootId === trigger.view?.rootId);
  if (stack.length >= MAX_STACK) refuse("push_limit_reached");
  return {
    view: describeView(showView(call.workspace, { app: call.app, user: trigger.user, body, below: trigger.view })),
  };
}

function updateView(call: Call): Fields {
  const body = readView(call, "modal");
  const view = call.workspace.views.find(
    (candidate) =>
      candidate.app === call.app &&
      (candidate.id === call.args.view_id || sameExternalId(candidate, call.args.external_id)),
  );
  if (!view?.open) return refuse("not_found");
  if (call.args.hash !== undefined && call.args.hash !== view.hash) refuse("hash_conflict");
  replaceView(view, body);
  return { view: describeView(view) };
}

function sameExternalId(view: StoredView, externalId: unknown): boolean {
  return typeof externalId === "string" && externalId !== "" && view.body.external_id === externalId;
}

function publishView(call: Call): Fields {
  requireArguments(call.args, "user_id");
  const user = call.workspace.users.get(asText(call.args.user_id)) ?? refuse("user_not_found");
  const view = showView(call.workspace, { app: call.app, user, body: readView(call, "home"), below: null });
  return { view: describeView(view) };
}

/** Puts a view on a person's screen. */
export function showView(
  workspace: Workspace,
  shown: { app: StoredView["app"]; user: User; body: Fields; below: StoredView | null },
): StoredView {
  const id = newId("V");
  const { app, user, body, below } = shown;
  const view: StoredView = {
    id,
    app,
    user,
    rootId: below?.rootId ?? id,
    previousId: below?.id ?? null,
    hash: "",
    open: true,
    body: {},
  };
  replaceView(view, body);
  workspace.views.push(view);
  return view;
}

/** Replaces what a view shows; its hash changes. */
export function replaceView(view: StoredView, body: Fields): void {
  view.body = { ...body, blocks: withBlockIds(asList(body.blocks).map(asFields)) };
  view.hash = `${Date.now()}.${newId("", 8)}`;
}

/** A view as the API and its payloads describe it. */
export function describeView(view: StoredView, values: Fields = {}): Fields {
  return {
    private_metadata: "",
    callback_id: "",
    external_id: "",
    clear_on_close: false,
    notify_on_close: false,
    close: null,
    submit: null,
    ...structuredClone(view.body),
    id: view.id,
    team_id: view.app.team.id,
    app_id: view.app.appId,
    app_installed_team_id: view.app.team.id,
    bot_id: view.app.botId,
    root_view_id: view.rootId,
    previous_view_id: view.previousId,
    hash: view.hash,
    state: { values },
  };
}
