/**
 * What a model without a script of its own does: it answers people through SendMessage like a helpful colleague. It
 * greets, repeats, asks with a widget, sends a table, and ends its turn after each send. Used by the emulated
 * development mode and by tests that do not care what is said.
 */
import type { Reply, Script } from "./reply.ts";
import { done, sendMessage, sendWidget } from "./reply.ts";

/** Answers the newest words of a person once, then stops; reminders of the host are no words of a person. */
export const helpfulScript: Script = (request) => {
  const { messages } = request;
  const asked = messages.findLastIndex((message) => message.role === "user" && spoken(message.text) !== "");
  const said = messages.slice(asked + 1).some((message) => message.calls.some((call) => call.name === "SendMessage"));
  if (asked < 0 || said) return done();
  const words = spoken(messages[asked]?.text ?? "");
  if (!request.hasTool("SendMessage")) return { text: `You said: ${excerpt(words)}` };
  return answerFor(words);
};

function answerFor(words: string): Reply {
  const text = words.toLowerCase();
  if (/\b(table|list)\b/.test(text))
    return sendMessage("| Step | Owner |\n| --- | --- |\n| Draft | me |\n| Review | you |\n\nShall I go on?");
  if (/\b(choose|pick|options?|which)\b/.test(text))
    return sendWidget("Which one shall I take?", ["The quick way", "The thorough way"]);
  if (/\blong\b/.test(text))
    return sendMessage(
      Array.from({ length: 40 }, (_item, index) => `Paragraph ${index + 1}: ${"words ".repeat(40)}`).join("\n\n"),
    );
  if (/\b(hello|hi|hey)\b/.test(text))
    return sendMessage("Hello! Ask me for a *table*, a *choice* or a *long* answer, or just talk to me.");
  return sendMessage(`I heard: “${excerpt(words)}”. I am an emulated model, so that is all I can say about it.`);
}

/** The person's own words: reminders of the host and address tags taken away. */
function spoken(text: string): string {
  return text
    .replace(/<system_reminder>[\s\S]*?<\/system_reminder>/g, "")
    .replace(/<[^>]*>|\[[^\]]*\]/g, " ")
    .trim();
}

function excerpt(text: string): string {
  const clean = text.replace(/\s+/g, " ").trim();
  return clean.length > 300 ? `${clean.slice(0, 300)}…` : clean;
}
