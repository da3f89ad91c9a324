/** What stands in a conversation without posts: who this is and what to try. */

import type { WireChannel } from "../wire.ts";
import { Avatar } from "./avatar.tsx";
import type { Playground } from "./playground.ts";

const DEMO_TRIES = ["show everything", "show pictures", "show widget", "show secret", "what did I tell you?"];
const REAL_TRIES = ["What can you do?", "Ask me something with choices", "Remember that I like short answers"];

/** The first thing a person sees. */
export function EmptyLog({ playground, channel }: { playground: Playground; channel: WireChannel }) {
  const bot = playground.model.bots.find((one) => channel.bots.includes(one.id));
  if (!bot) return <p class="empty">No bot is in this channel. Choose one in the channel’s settings, top right.</p>;
  const prefix = channel.kind === "channel" ? `@${bot.name} ` : "";
  const tries = bot.demo ? DEMO_TRIES : REAL_TRIES;
  return (
    <section class="empty" aria-label="How to begin">
      <Avatar id={bot.id} name={bot.name} bot />
      <h2>{channel.kind === "direct" ? `Write to ${bot.name}` : `Welcome to #${channel.name}`}</h2>
      <p>{bot.role}</p>
      <p class="hint">
        {channel.kind === "direct"
          ? "Only you and this bot see this conversation."
          : `Everybody here reads this channel. ${bot.name} answers when you write @${bot.name}.`}
      </p>
      {bot.demo && (
        <p class="hint">
          {bot.name} runs on the built-in demo model: no key, no cost, and it shows every kind of message.
        </p>
      )}
      <p class="try-label">Try:</p>
      <ul class="tries">
        {tries.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => playground.say(channel.id, prefix + text, [])}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
