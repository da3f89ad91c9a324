/** Puts together what speaking needs: the file resolver over the bot's folders, the settings, and the mask. */

import type { GuardedFetch } from "../download.ts";
import type { EngineSettings } from "../settings.ts";
import type { Blobs } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import type { DeliverParts } from "./deliver-bubble.ts";
import { createFileRoots } from "./file-roots.ts";
import { createFileResolver } from "./resolve-files.ts";

/** Folders bots may send files from, and what is never sent from anywhere. */
export interface EngineFiles {
  readonly roots: readonly { readonly path: string; readonly seenAs?: string }[];
  readonly secretPaths: readonly string[];
}

/** Parts for prepareBubble. */
export function createDeliverParts(parts: {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly files: EngineFiles;
  readonly guardedFetch: GuardedFetch;
  readonly settings: EngineSettings;
  readonly maskDeep: <T>(value: T) => T;
}): DeliverParts {
  const roots = createFileRoots(parts.files);
  return {
    store: parts.store,
    settings: parts.settings,
    maskDeep: parts.maskDeep,
    files: createFileResolver({ roots, guardedFetch: parts.guardedFetch, blobs: parts.blobs }),
  };
}
