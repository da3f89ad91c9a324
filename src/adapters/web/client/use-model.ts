/** Ties components to the page's model: each change draws what reads it. */

import { useLayoutEffect, useReducer } from "preact/hooks";
import type { Model } from "./model.ts";
import type { Playground } from "./playground.ts";

/** The current model; the component draws again after every change. */
export function useModel(playground: Playground): Model {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useLayoutEffect(() => playground.subscribe(() => redraw(undefined)), [playground]);
  return playground.model;
}
