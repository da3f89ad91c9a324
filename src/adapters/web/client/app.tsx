/** The page's frame: waiting, choosing a name, or the two panes with a drawer on narrow screens. */

import { useEffect, useState } from "preact/hooks";
import { Conversation } from "./conversation.tsx";
import type { Playground } from "./playground.ts";
import { Sidebar } from "./sidebar.tsx";
import { useModel } from "./use-model.ts";
import { Welcome } from "./welcome.tsx";

/** The whole page. */
export function App({ playground }: { playground: Playground }) {
  const model = useModel(playground);
  if (model.phase === "loading") return <Waiting text="Opening Parley…" />;
  if (model.phase === "failed") return <Waiting text={`${model.failure ?? ""} Trying again…`} />;
  if (model.phase === "welcome") return <Welcome playground={playground} bots={model.bots} />;
  return <Panes playground={playground} />;
}

function Waiting({ text }: { text: string }) {
  return (
    <main class="starting">
      <span class="spinner" aria-hidden="true" />
      <p role="status">{text}</p>
    </main>
  );
}

function Panes({ playground }: { playground: Playground }) {
  const model = useModel(playground);
  const [drawer, setDrawer] = useState(false);
  const unread = model.channels.reduce((sum, channel) => sum + channel.unread, 0);
  useEffect(() => {
    document.title = unread > 0 ? `(${unread}) Parley` : "Parley";
  }, [unread]);
  useEffect(() => {
    if (!drawer) return;
    document.querySelector<HTMLElement>("#places [aria-current]")?.focus();
    // Escape inside a dialog closes that dialog only.
    const onKey = (event: KeyboardEvent) =>
      event.key === "Escape" && !document.querySelector("dialog[open]") && close();
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [drawer]);
  const close = () => {
    setDrawer(false);
    document.getElementById("open-places")?.focus();
  };
  return (
    <div class={drawer ? "panes drawer-open" : "panes"}>
      <button type="button" class="skip" onClick={() => document.getElementById("composer")?.focus()}>
        Skip to message field
      </button>
      <Sidebar playground={playground} onChoose={() => setDrawer(false)} />
      {drawer && <button type="button" class="veil" aria-label="Close the list" onClick={close} />}
      <Conversation playground={playground} hidden={drawer} onOpenPlaces={() => setDrawer(true)} />
    </div>
  );
}
