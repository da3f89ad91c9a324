/**
 * The `demo` model: needs no key and no network, and says plainly that no language model is behind it. It recognises a few requests and
 * answers with SendMessage calls like any model, one step at a time, so that everything around it is the real product.
 * Invariant: the same request gives the same reply. Reading a request is demo-request.ts, the words are demo-scenes.ts.
 */

import type { Clock } from "../clock.ts";
import type { DemoFiles } from "./demo-files.ts";
import { type DemoRequest, readDemoRequest, type Utterance } from "./demo-request.ts";
import type { Asking, Scene, Sending } from "./demo-scenes.ts";
import * as scenes from "./demo-scenes.ts";
import { teamScene } from "./demo-team.ts";
import type { Model, ModelReply, ModelRequest } from "./model.ts";

/** What the demo model needs: files to show, and time for its pauses. */
export interface DemoModelOptions {
  readonly files: DemoFiles;
  readonly clock: Clock;
  /** Pause before every bubble after a turn's first, ms, so that a person can follow; default 0. */
  readonly paceMs?: number;
}

/** The name under which settings choose it. */
export const DEMO_MODEL = "demo";

/** Creates the demo model. Never fails; a request without SendMessage (summaries, extraction) gets an empty answer. */
export function createDemoModel(options: DemoModelOptions): Model {
  return {
    name: DEMO_MODEL,
    contextWindow: 100_000,
    step: async (request, signal) => {
      const sendings = offersSendMessage(request) ? nextSendings(request, options.files) : [];
      const pause = sendings.length > 0 && request.messages.at(-1)?.role === "tool" ? (options.paceMs ?? 0) : 0;
      if (pause > 0) await options.clock.delay(pause, signal);
      if (signal.aborted)
        return { ok: false, model: DEMO_MODEL, problem: "aborted", text: "The demo model was stopped." };
      return toReply(sendings, request);
    },
  };
}

function offersSendMessage(request: ModelRequest): boolean {
  return request.tools.some((tool) => tool.name === "SendMessage");
}

function isAsking(call: Sending | Asking): call is Asking {
  return "target" in call && !("type" in call);
}

function toReply(sendings: readonly (Sending | Asking)[], request: ModelRequest): ModelReply {
  const step = request.messages.filter((message) => message.role === "assistant").length;
  const nameOf = (call: Sending | Asking) => (isAsking(call) ? "SendToAgent" : "SendMessage");
  const calls = sendings.map((args, i) => ({ id: `demo_${step}_${i}`, name: nameOf(args), args: { ...args } }));
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  return { ok: true, model: DEMO_MODEL, text: "", calls, usage, finish: calls.length > 0 ? "calls" : "stop" };
}

/** The calls of this step; none when everything is said. */
function nextSendings(modelRequest: ModelRequest, files: DemoFiles): readonly (Sending | Asking)[] {
  const request = readDemoRequest(modelRequest);
  const sendings = request.newest ? continueScene(request, request.newest, files) : [];
  if (sendings.length > 0 || request.sent || modelRequest.forceTool !== "SendMessage") return sendings;
  return [{ type: "text", content: "I have nothing to add. `help` shows what this demo can do." }];
}

function continueScene(request: DemoRequest, newest: Utterance, files: DemoFiles): readonly (Sending | Asking)[] {
  const { group } = request;
  if (group && request.refusedSteps > 0) return [];
  if (group && !group.named && !group.first) {
    // One short introduction in its life; the first of the Group answers for all.
    return request.hasSpoken || request.sent ? [] : (scenes.memberScene(request)[request.stepsDone] ?? []);
  }
  const [refusal] = request.refusals;
  if (refusal !== undefined) {
    // A card is open: the turn is the person's now (SPEC M9). Other refusals are told once, then the scene ends.
    const waits = /\bwait(s|ing)?\b/i.test(refusal);
    return waits || request.refusedSteps > 1 ? [] : [scenes.refusedScene(refusal)];
  }
  if (request.refusedSteps > 0) return [];
  return chooseScene(request, newest, files)[request.stepsDone] ?? [];
}

function chooseScene(request: DemoRequest, newest: Utterance, files: DemoFiles): Scene {
  const team = teamScene(request, newest);
  if (team) return team;
  const answer = readWidgetAnswer(newest.words);
  if (answer) return scenes.answerScene(answer);
  if (newest.event) return scenes.storedSecretScene(newest.event === "secret-declined");
  const words = normalise(newest.words);
  if (isRecall(words)) return scenes.recallScene(toldThings(request));
  const shown = SHOWS.find(([pattern]) => pattern.test(words) && asksToShow(words));
  if (shown) return shown[1](files);
  if (isHonestyQuestion(words)) return scenes.honestScene(request);
  if (isGreeting(words) || isHelp(words)) return scenes.helloScene(request);
  if (/^(thanks?|thank you|thx|danke|merci|gracias|grazie|obrigad[oa]|bye|goodbye|tschüss|ciao ciao)\b/.test(words))
    return scenes.thanksScene();
  return scenes.echoScene(newest, request.hasSpoken);
}

/** First match wins: the narrower words come first. */
const SHOWS: readonly (readonly [RegExp, (files: DemoFiles) => Scene])[] = [
  [/\b(everything|tour|all)\b/, scenes.everythingScene],
  [/\b(multiple|multi|checkbox(es)?|several choices)\b/, scenes.multipleScene],
  [/\b(custom|own answer|free text)\b/, scenes.customScene],
  [/\b(long)\b/, scenes.longScene],
  [/\b(progress|pacing|pace|bubbles|step by step)\b/, scenes.progressScene],
  [/\b(widgets?|choices?|buttons?|options?|poll|question)\b/, scenes.widgetScene],
  [/\b(images?|pictures?|photos?|gallery|grid)\b/, scenes.imagesScene],
  [/\b(files?|attachments?|documents?)\b/, scenes.fileScene],
  [/\b(cursor|coding agent|agent card)\b/, scenes.cursorScene],
  [/\b(secrets?|password|api key|credentials?)\b/, scenes.secretScene],
  [/\b(text|markdown|table|code|formatting)\b/, scenes.textScene],
];

/** A request ("show images", "can I see a widget?"), or the bare word; not any sentence in which the word occurs. */
function asksToShow(words: string): boolean {
  const polite = words.replace(
    /^(please|hey|hi|ok|okay|now|and|can you|could you|can i|i want to|let me|i would like to)\s+/,
    "",
  );
  return (
    /^(please )?(show|demo|demonstrate|display|send|see|give|try|ask|test)\b/.test(polite) ||
    words.split(" ").length <= 2
  );
}

function isRecall(words: string): boolean {
  return /\bwhat (did|have) i (tell|told|say|said|write|written)\b|\bwhat do you (know|remember)\b|\bdo you remember (me|what)\b/.test(
    words,
  );
}

function isHonestyQuestion(words: string): boolean {
  return /\b(are you|is this) (a |an )?(real|demo|bot|ai|human|person|robot|llm|language model|script)\b|\b(who|what) are you\b|\b(which|what) (language )?model\b/.test(
    words,
  );
}

const GREETINGS =
  /^(hi|hello|hey|hiya|howdy|yo|good (morning|afternoon|evening)|greetings|hallo|moin|servus|guten (morgen|tag|abend)|grüezi|bonjour|salut|bonsoir|hola|buen[oa]s( \p{L}+)?|ciao|salve|ol[áa]|oi|bom dia|hej|hei|hallå|ahoj|cześć|dzień dobry|merhaba|selam|привет|здравствуйте|вітаю|γεια|שלום|مرحبا|السلام عليكم|नमस्ते|namaste|こんにちは|やあ|你好|您好|안녕하세요|안녕)(?![\p{L}\p{N}])/u;

function isGreeting(words: string): boolean {
  const greeting = GREETINGS.exec(words);
  return greeting !== null && words.slice(greeting[0].length).trim().split(/\s+/).length <= 3;
}

function isHelp(words: string): boolean {
  return /^(help|hilfe|aide|ayuda|aiuto|ajuda|pomoc|помощь|menu|start|\?+)$|\bwhat can (you|i) (do|ask|try|say)\b|^help\b/.test(
    words,
  );
}

/** What counts as told: not greetings, questions to the demo, requests to show something, or answers of cards. */
function toldThings(request: DemoRequest): readonly string[] {
  const told = request.earlier.filter((said) => {
    const words = normalise(said);
    const asks = isRecall(words) || isHonestyQuestion(words) || isHelp(words) || isGreeting(words);
    const shows = asksToShow(words) && SHOWS.some(([pattern]) => pattern.test(words));
    return words !== "" && !asks && !shows && !readWidgetAnswer(said);
  });
  return [...new Set(told)].slice(-12);
}

function readWidgetAnswer(words: string): { readonly prompt: string; readonly choice: string } | undefined {
  const start = words.search(/\{\s*"widget_answer"/);
  if (start < 0) return undefined;
  const answer = parseJson(words.slice(start, words.lastIndexOf("}") + 1))?.widget_answer;
  if (typeof answer !== "object" || answer === null) return undefined;
  const { prompt, values, custom } = answer as { prompt?: unknown; values?: unknown; custom?: unknown };
  const chosen = Array.isArray(values) ? values.map(String) : [];
  if (typeof custom === "string" && custom) chosen.push(custom);
  return { prompt: typeof prompt === "string" ? prompt : "", choice: chosen.join(", ") };
}

function parseJson(text: string): { readonly widget_answer?: unknown } | undefined {
  try {
    return JSON.parse(text) as { readonly widget_answer?: unknown };
  } catch {
    // Not an answer after all: the words are taken as words.
    return undefined;
  }
}

function normalise(words: string): string {
  return words
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[`*_"“”!.,;:¡¿]+/g, " ")
    .replace(/(?<=.)\?+$/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
