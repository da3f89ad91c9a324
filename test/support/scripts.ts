/**
 * Short ways to write what a scripted model does: answer each person message once and end its turn. Scripts decide by the request alone, so they
 * go on correctly after a restart of the product.
 */
import { done, type LlmRequest, type Reply, type Script, sendMessage } from "../emulators/llm/index.ts";

/** A script that answers every new input with one message, and ends its turn after it. */
export function answering(say: (heard: string, request: LlmRequest) => string): Script {
  return (request) => (request.lastRole === "user" ? sendMessage(say(heard(request), request)) : done());
}

/** Says back what it heard. */
export const echo: Script = answering((words) => `You said: ${words}`);

/** A script that makes these replies one after the other within each turn, then ends it. */
export function steps(...replies: readonly Reply[]): Script {
  return (request) => replies[request.callsThisTurn.length] ?? done();
}

/** A model that needs as long as the test wants: `request` comes when it was asked, `release` lets it answer. */
export function heldBack(reply: Reply = sendMessage("done waiting")): {
  readonly script: Script;
  release(): void;
} {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const script: Script = async (request) => {
    await released;
    return request.lastRole === "user" ? reply : done();
  };
  return { script, release };
}

/** The newest words of people in a request, without what the host adds: tags, speaker names, context, reminders. */
export function heard(request: LlmRequest): string {
  return spokenIn(request.lastUserText);
}

/** The people's words in one user message, one per line. */
export function spokenIn(text: string): string {
  return text
    .replace(/<system_reminder>[\s\S]*?<\/system_reminder>/g, "")
    .replace(/<context_before>[\s\S]*?<\/context_before>/g, "")
    .replace(/^\[t[^\]]*\] [^\n]*?\([^)\n]*\)(?: \(in reply to [^)\n]*\))?: /gm, "")
    .trim();
}

/** What was said in the place before, as the request shows it; "" when nothing. */
export function contextIn(text: string): string {
  return /<context_before>([\s\S]*?)<\/context_before>/.exec(text)?.[1] ?? "";
}
