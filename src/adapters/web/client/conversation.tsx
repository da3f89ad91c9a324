/** The right pane: who one is talking to, what was said, what is being done, and the field to write in. */

import { useEffect, useState } from "preact/hooks";
import type { WireChannel } from "../wire.ts";
import { Avatar } from "./avatar.tsx";
import { Composer } from "./composer.tsx";
import { BotChoice, Dialog } from "./dialog.tsx";
import { GearIcon, HashIcon, MenuIcon, StopIcon } from "./icons.tsx";
import { Log } from "./log.tsx";
import { type Model, workingIn } from "./model.ts";
import type { Playground } from "./playground.ts";
import { useModel } from "./use-model.ts";

interface Props {
  readonly playground: Playground;
  /** True while the drawer covers it. */
  readonly hidden: boolean;
  readonly onOpenPlaces: () => void;
}

/** The open conversation. */
export function Conversation({ playground, hidden, onOpenPlaces }: Props) {
  const model = useModel(playground);
  const channel = model.channels.find((one) => one.id === model.current);
  const others = model.channels.some((one) => one.unread > 0 && one.id !== model.current);
  return (
    <main class="conversation" inert={hidden}>
      <header class="title-bar">
        <button
          type="button"
          id="open-places"
          class="quiet icon-button"
          aria-label="Open the list of conversations"
          onClick={onOpenPlaces}
        >
          <MenuIcon />
          {others && <span class="dot" />}
        </button>
        {channel && <Title playground={playground} model={model} channel={channel} />}
      </header>
      {channel && <Log key={channel.id} playground={playground} channel={channel} />}
      {channel && <Status playground={playground} model={model} channel={channel} />}
      {channel && <Composer key={`write-${channel.id}`} playground={playground} channel={channel} />}
    </main>
  );
}

function Title({ playground, model, channel }: { playground: Playground; model: Model; channel: WireChannel }) {
  const [settings, setSettings] = useState(false);
  const bots = model.bots.filter((bot) => channel.bots.includes(bot.id));
  const names = bots.map((bot) => bot.name).join(", ");
  const direct = channel.kind === "direct" ? bots[0] : undefined;
  return (
    <>
      {direct ? <Avatar id={direct.id} name={direct.name} bot /> : <HashIcon />}
      <div class="grow">
        <h1>{channel.name}</h1>
        <p>{direct ? direct.role : names ? `with ${names}` : "No bot here yet"}</p>
      </div>
      {bots.some((bot) => bot.demo) && (
        <span
          class="chip demo"
          title="This bot runs on the built-in demo model. Set a model and its key in parley.yaml for a real one."
        >
          demo model
        </span>
      )}
      {channel.kind === "channel" && (
        <button type="button" class="quiet icon-button" aria-label="Channel settings" onClick={() => setSettings(true)}>
          <GearIcon />
        </button>
      )}
      {settings && <Settings playground={playground} channel={channel} onClose={() => setSettings(false)} />}
    </>
  );
}

function Settings(props: { playground: Playground; channel: WireChannel; onClose: () => void }) {
  const { playground, channel } = props;
  const [chosen, setChosen] = useState(channel.bots);
  const save = async () => {
    await playground.setBots(channel.id, chosen);
    props.onClose();
  };
  return (
    <Dialog title={`#${channel.name}`} action="Save" onAction={save} onClose={props.onClose}>
      <BotChoice bots={playground.model.bots} chosen={chosen} onChoose={setChosen} />
    </Dialog>
  );
}

/** "Ada is working…" with Stop, or that the connection is away. */
function Status({ playground, model, channel }: { playground: Playground; model: Model; channel: WireChannel }) {
  const now = useNow(5000);
  // Without a connection nobody knows what is being done, and Stop reaches nobody.
  const working = model.connection === "offline" ? [] : workingIn(model, channel.id, now);
  const names = working.map((item) => item.botName).join(" and ");
  return (
    <div class="status-line">
      <span role="status">
        {working.length > 0 && (
          <>
            <span class="working-dots" aria-hidden="true">
              <i />
              <i />
              <i />
            </span>
            {names} {working.length > 1 ? "are" : "is"} working…
          </>
        )}
        {working.length === 0 &&
          model.connection === "offline" &&
          "No connection. What you write is sent when it is back."}
      </span>
      {working.length > 0 && (
        <button type="button" class="stop" onClick={() => playground.stop(channel.id)}>
          <StopIcon />
          Stop
        </button>
      )}
    </div>
  );
}

/** The time, refreshed so that stale statuses disappear. */
function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return Math.max(now, Date.now());
}
