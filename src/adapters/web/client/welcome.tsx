/** The first page: says what this is, who is here, and asks for a name. */

import { useState } from "preact/hooks";
import type { WireBot } from "../wire.ts";
import { ApiError } from "./api.ts";
import { Avatar } from "./avatar.tsx";
import type { Playground } from "./playground.ts";

/** Choosing a name. */
export function Welcome({ playground, bots }: { playground: Playground; bots: readonly WireBot[] }) {
  return (
    <main class="welcome">
      <div class="welcome-card">
        <img class="logo" src={new URL("./icon.svg", import.meta.url).href} alt="" width="44" height="44" />
        <h1>Welcome to Parley</h1>
        <p class="lead">AI teammates you can write to, here, in Slack and in Discord.</p>
        <ul class="who" aria-label="Bots you can write to">
          {bots.map((bot) => (
            <li key={bot.id}>
              <Avatar id={bot.id} name={bot.name} bot />
              <div>
                <strong>{bot.name}</strong>
                {bot.demo && <span class="chip">demo model</span>}
                <span class="role">{bot.role}</span>
              </div>
            </li>
          ))}
        </ul>
        <NameForm label="What should they call you?" action="Start" onName={(name) => playground.chooseName(name)} />
      </div>
    </main>
  );
}

/** A field for the display name; shows the server's reason when it is refused. */
export function NameForm(props: {
  label: string;
  action: string;
  start?: string;
  onName: (name: string) => Promise<void>;
}) {
  const [name, setName] = useState(props.start ?? "");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    try {
      await props.onName(name);
    } catch (problem) {
      setError(problem instanceof ApiError ? problem.message : "Something went wrong. Try again.");
    }
    setBusy(false);
  };
  return (
    <form class="name-form" onSubmit={submit}>
      <label for="name">{props.label}</label>
      <div class="row">
        <input
          id="name"
          name="name"
          value={name}
          maxLength={40}
          autocomplete="nickname"
          required
          autofocus
          aria-invalid={error ? "true" : undefined}
          aria-describedby={error ? "name-error" : undefined}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={busy || name.trim() === ""}>
          {props.action}
        </button>
      </div>
      {error && (
        <p id="name-error" class="error" role="alert">
          {error}
        </p>
      )}
    </form>
  );
}
