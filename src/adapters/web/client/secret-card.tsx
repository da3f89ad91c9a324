/**
 * A bot asks for a secret: a masked field that goes to the vault, never into the conversation. The value lives in the field only and is cleared
 * as soon as it was taken.
 */

import { useRef } from "preact/hooks";
import type { WireContent, WirePost } from "../wire.ts";
import { CardFrame, endedText } from "./card-frame.tsx";
import { LockIcon } from "./icons.tsx";
import type { Playground } from "./playground.ts";
import { useRequest } from "./use-request.ts";

type Secret = Extract<WireContent, { type: "secret-request" }>["secret"];

/** The card of a secret-request. */
export function SecretCard({ playground, post, secret }: { playground: Playground; post: WirePost; secret: Secret }) {
  const { busy, refusal, run } = useRequest();
  const ended = endedText(post, "Stored in the vault");
  return (
    <CardFrame kind="secret" ended={ended} refusal={refusal}>
      <p class="card-title">
        <LockIcon />
        {secret.label}
      </p>
      {secret.description && <p>{secret.description}</p>}
      <p class="hint">
        Goes encrypted to the vault for <strong>{secret.connector}</strong>, field <strong>{secret.field}</strong>.{" "}
        {post.author.name} learns that it is there, never what it is.
      </p>
      {!ended && (
        <SecretForm
          label={secret.label}
          seq={post.seq}
          busy={busy}
          onGive={(value) => run(() => playground.giveSecret(post, value))}
          onDecline={() => void run(() => playground.decline(post))}
        />
      )}
    </CardFrame>
  );
}

function SecretForm(props: {
  label: string;
  seq: number;
  busy: boolean;
  onGive: (value: string) => Promise<boolean>;
  onDecline: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const id = `secret-${props.seq}`;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!field.current?.value) return;
    const taken = await props.onGive(field.current.value);
    if (taken && field.current) field.current.value = "";
  };
  return (
    <form class="secret-form" autocomplete="off" onSubmit={submit}>
      <label class="visually-hidden" for={id}>
        {props.label}
      </label>
      <input
        id={id}
        ref={field}
        type="password"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        data-1p-ignore
        data-lpignore="true"
        required
        placeholder="Paste or type it here"
        disabled={props.busy}
      />
      <div class="actions">
        <button type="button" disabled={props.busy} onClick={props.onDecline}>
          Decline
        </button>
        <button type="submit" class="primary" disabled={props.busy}>
          Store securely
        </button>
      </div>
    </form>
  );
}
