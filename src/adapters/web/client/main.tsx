/** Starts the page: one store, one connection, one tree of components. */

import { render } from "preact";
import { App } from "./app.tsx";
import { Playground } from "./playground.ts";

const root = document.getElementById("app");
if (root) {
  const playground = new Playground();
  render(<App playground={playground} />, root);
  void playground.open();
}
