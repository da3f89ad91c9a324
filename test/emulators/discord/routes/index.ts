/**
 * All REST routes by `METHOD /path`, with `:id`, `:token` and `:emoji` for the variable parts.
 */
import type { Routes } from "../call.ts";
import { APPLICATION_ROUTES } from "./applications.ts";
import { CHANNEL_ROUTES } from "./channels.ts";
import { INTERACTION_ROUTES } from "./interactions.ts";
import { MESSAGE_ROUTES } from "./messages.ts";
import { PLACE_ROUTES } from "./places.ts";

/** Every route the emulator knows; anything else is 404. */
export const ROUTES: Routes = {
  ...APPLICATION_ROUTES,
  ...CHANNEL_ROUTES,
  ...INTERACTION_ROUTES,
  ...MESSAGE_ROUTES,
  ...PLACE_ROUTES,
};
