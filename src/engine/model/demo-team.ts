/**
 * How demo bots work together: one asks two teammates to argue, they answer it, and it sums up when both have (SPEC A1). Pure; reads the request,
 * writes a scene.
 */

import type { DemoRequest, Utterance } from "./demo-request.ts";
import type { Scene } from "./demo-scenes.ts";

const ASK =
  /\b(?:ask|let|get|have) @?([\p{L}\p{N}-]+) (?:and|,|&|\+) ?@?([\p{L}\p{N}-]+) (?:to )?(?:argue|debate|discuss)\b(?: (?:about|over|on|whether|for))?\s*(.*)$/iu;
const SIDES = ["for", "against"] as const;
const TASK = /^Please argue (for|against): (.+?)\. /s;

interface Task {
  readonly names: readonly [string, string];
  readonly topic: string;
}

/** The scene of a bot among bots, or undefined when this is about something else. An empty one means: wait for the others. */
export function teamScene(request: DemoRequest, newest: Utterance): Scene | undefined {
  if (request.isPeer) return newest.byTeammate ? argue(request, newest) : [];
  const task = request.asked && readTask(request.asked.words);
  if (!newest.byTeammate) return task ? ask(task) : undefined;
  return task ? sumUp(task, request.replies) : passOn(newest);
}

function readTask(words: string): Task | undefined {
  const [, one, other, rest = ""] = ASK.exec(words.replace(/\s+/g, " ").trim()) ?? [];
  if (!one || !other) return undefined;
  const topic = rest
    .replace(/,? ?(?:and )?(?:then )?summari[sz]e.*$/i, "")
    .replace(/[.!?]+$/, "")
    .trim();
  return { names: [one, other], topic: topic || "tabs instead of spaces" };
}

function ask({ names, topic }: Task): Scene {
  const asks = names.map((name, i) => ({
    target: name,
    message: `Please argue ${SIDES[i]}: ${topic}. One short paragraph is enough.`,
  }));
  const content = `I am asking ${names.map(shown).join(" and ")} to argue about **${topic}**. They work on their own; I will sum up when both have answered.`;
  return [[{ type: "text", content }, ...asks]];
}

function argue(request: DemoRequest, newest: Utterance): Scene {
  const [, side, topic] = TASK.exec(newest.words) ?? [];
  const content =
    side === "for"
      ? `For ${topic}: it is the simpler habit, newcomers get it at once, and nobody has to remember an exception.`
      : side === "against"
        ? `Against ${topic}: it only looks simple; what it saves today is paid back at the first special case.`
        : `I am ${request.botName} on the demo model, so all I can say is that I read: “${newest.words.slice(0, 200)}”`;
  return [[{ type: "text", content }]];
}

/** Nothing until everybody has answered. */
function sumUp({ names, topic }: Task, replies: readonly Utterance[]): Scene {
  const latest = names.map((name) => replies.findLast((reply) => isFrom(reply, name)));
  if (latest.some((reply) => reply === undefined)) return [];
  const parts = latest.map((reply) => `**${reply?.speaker}:** ${reply?.words}`);
  const content = `Both have answered about **${topic}**.\n\n${parts.join("\n\n")}\n\n**In short:** they disagree, as a script told them to. With a real model behind us the arguments would be real, too.`;
  return [[{ type: "text", content }]];
}

function passOn(reply: Utterance): Scene {
  return [[{ type: "text", content: `**${reply.speaker}** answered: ${reply.words}` }]];
}

function isFrom(reply: Utterance, name: string): boolean {
  return [reply.speaker, reply.speakerId].some((one) => one.toLowerCase() === name.toLowerCase());
}

function shown(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
