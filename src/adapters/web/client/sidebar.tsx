/** The list of places: bots to write to directly, channels, and who one is. On narrow screens it is a drawer. */

import { useRef, useState } from "preact/hooks";
import type { WireChannel } from "../wire.ts";
import { Avatar } from "./avatar.tsx";
import { BotChoice, Dialog } from "./dialog.tsx";
import { HashIcon, PlusIcon } from "./icons.tsx";
import type { Model } from "./model.ts";
import type { Playground } from "./playground.ts";
import { useModel } from "./use-model.ts";
import { NameForm } from "./welcome.tsx";

interface Props {
  readonly playground: Playground;
  readonly onChoose: () => void;
}

/** The left pane. */
export function Sidebar({ playground, onChoose }: Props) {
  const model = useModel(playground);
  const [dialog, setDialog] = useState<"channel" | "name" | null>(null);
  const choose = (id: string) => {
    playground.show(id);
    onChoose();
  };
  const list = (kind: WireChannel["kind"]) =>
    model.channels
      .filter((channel) => channel.kind === kind)
      .map((channel) => <PlaceLink key={channel.id} model={model} channel={channel} onChoose={choose} />);
  return (
    <nav class="sidebar" id="places" aria-label="Conversations">
      <header class="brand">
        <img src={new URL("./icon.svg", import.meta.url).href} alt="" width="28" height="28" />
        <span>Parley</span>
        <Connection state={model.connection} />
      </header>
      <div class="places">
        <h2 id="direct-heading">Direct messages</h2>
        <ul aria-labelledby="direct-heading">{list("direct")}</ul>
        <div class="heading-row">
          <h2 id="channels-heading">Channels</h2>
          <button type="button" class="quiet icon-button" aria-label="New channel" onClick={() => setDialog("channel")}>
            <PlusIcon />
          </button>
        </div>
        <ul aria-labelledby="channels-heading">{list("channel")}</ul>
        <a class="status-link hint" href="/status">
          Status
        </a>
      </div>
      <button type="button" class="myself" onClick={() => setDialog("name")}>
        <Avatar id={model.me?.id ?? ""} name={model.me?.name ?? "?"} />
        <span class="grow">
          <span class="visually-hidden">You are </span>
          <span class="my-name">{model.me?.name}</span>
          <span class="hint">Change name</span>
        </span>
      </button>
      {dialog === "channel" && <NewChannel playground={playground} onClose={() => setDialog(null)} onMade={onChoose} />}
      {dialog === "name" && <Rename playground={playground} onClose={() => setDialog(null)} />}
    </nav>
  );
}

function PlaceLink(props: { model: Model; channel: WireChannel; onChoose: (id: string) => void }) {
  const { model, channel } = props;
  const bot = channel.kind === "direct" ? model.bots.find((one) => one.id === channel.bots[0]) : undefined;
  const current = model.current === channel.id;
  const unread = channel.unread > 0 && !current;
  return (
    <li>
      <a
        href={`#${channel.id}`}
        class={unread ? "place unread" : "place"}
        aria-current={current ? "page" : undefined}
        onClick={(event) => {
          event.preventDefault();
          props.onChoose(channel.id);
        }}
      >
        {bot ? <Avatar id={bot.id} name={bot.name} bot /> : <HashIcon />}
        <span class="grow">{channel.name}</span>
        {bot?.demo && <span class="chip">demo</span>}
        {unread && (
          <span class="badge">
            {channel.unread > 98 ? "99+" : channel.unread}
            <span class="visually-hidden"> unread</span>
          </span>
        )}
      </a>
    </li>
  );
}

function Connection({ state }: { state: Model["connection"] }) {
  const words = { live: "Connected", connecting: "Connecting…", offline: "Reconnecting…" } as const;
  return (
    <span class={`connection ${state}`} role="status">
      <span class={state === "live" ? "visually-hidden" : ""}>{words[state]}</span>
    </span>
  );
}

function Rename({ playground, onClose }: { playground: Playground; onClose: () => void }) {
  const save = async (name: string) => {
    await playground.chooseName(name);
    onClose();
  };
  return (
    <Dialog title="Change your name" onClose={onClose}>
      <p>Later messages carry the new name. You stay the same person to the bots.</p>
      <NameForm label="Display name" action="Save" start={playground.model.me?.name ?? ""} onName={save} />
    </Dialog>
  );
}

function NewChannel(props: { playground: Playground; onClose: () => void; onMade: () => void }) {
  const { bots } = props.playground.model;
  const [chosen, setChosen] = useState<readonly string[]>(bots.slice(0, 1).map((bot) => bot.id));
  const name = useRef<HTMLInputElement>(null);
  const make = async () => {
    await props.playground.createChannel(name.current?.value ?? "", chosen);
    props.onClose();
    props.onMade();
  };
  return (
    <Dialog title="New channel" action="Create channel" onAction={make} onClose={props.onClose}>
      <label for="channel-name">Name</label>
      <input id="channel-name" ref={name} maxLength={40} required placeholder="plans" autocomplete="off" />
      <p class="hint">Everybody here can read it.</p>
      <BotChoice bots={bots} chosen={chosen} onChoose={setChosen} />
    </Dialog>
  );
}
