/**
 * A secret on its way from a person to the vault, or from the vault to a connector (SPEC C5).
 * Invariant: the value is not a property, so no printing, serialising, cloning or inspecting shows it; only `reveal()` does, and each call of it is a
 * place worth reviewing. Storing is left to state/vault, masking what slips into texts to delivery/mask-secrets.
 */

/** Shortest secret that is kept, in characters: anything shorter could not be masked without blacking out ordinary text (SPEC C6). */
export const MIN_SECRET_CHARS = 8;

/** Longest secret that is kept, in characters: room for key files, not for documents. */
export const MAX_SECRET_CHARS = 16_384;

const SHOWN = "[secret]";

/** Wraps one secret; shows itself as `[secret]` everywhere. */
export class SecretValue {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Never put it into an error, log line, transcript, queue or prompt. */
  reveal(): string {
    return this.#value;
  }

  /** Always `[secret]`. */
  toString(): string {
    return SHOWN;
  }

  /** Always `[secret]`, so JSON and JSON logs stay clean. */
  toJSON(): string {
    return SHOWN;
  }

  /** Always `[secret]`, also in arithmetic and template literals. */
  [Symbol.toPrimitive](): string {
    return SHOWN;
  }

  /** Always `[secret]`; the symbol is Node's hook for console.log and util.inspect. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return SHOWN;
  }
}

/** Null when the value may be stored; else advice for the person who typed it. It never quotes the value. */
export function adviseOnSecret(value: SecretValue): string | null {
  const plain = value.reveal();
  if (plain.trim().length < MIN_SECRET_CHARS) {
    return `This is shorter than ${MIN_SECRET_CHARS} characters, too short to be kept out of messages reliably. Create a longer key or password and enter that.`;
  }
  if (plain.length > MAX_SECRET_CHARS)
    return `This is longer than ${MAX_SECRET_CHARS} characters. Enter only the key itself.`;
  if (plain.includes("\0"))
    return "This contains a character that cannot be typed. Copy the key again and enter only that.";
  return null;
}
