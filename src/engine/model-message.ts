/**
 * What a model reads and writes, in the engine's own form. This is what is stored as session state; provider formats stay in model/.
 */

import type { FileRef } from "./file-ref.ts";

/** One call the model asks for. `invalid` holds the raw text when the arguments were not valid JSON. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly invalid?: string;
}

/** One message of a session's model state. */
export type ModelMessage =
  | { readonly role: "user"; readonly text: string; readonly images?: readonly FileRef[] }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ModelCall[];
      /** Opaque provider data (for example signed reasoning) that must be sent back unchanged, with the model it belongs to. */
      readonly providerState?: { readonly model: string; readonly data: unknown };
    }
  | {
      readonly role: "tool";
      readonly results: readonly {
        readonly callId: string;
        readonly name: string;
        readonly text: string;
        readonly ok: boolean;
      }[];
    };
