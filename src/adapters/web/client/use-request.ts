/** One request of a card at a time: busy while it runs, and words for this person when it was refused or did not get through. */

import { useState } from "preact/hooks";
import type { WireReception } from "../wire.ts";
import { ApiError } from "./api.ts";

/** `run` resolves to true when the server took it. */
export function useRequest() {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState("");
  const run = async (request: () => Promise<WireReception>): Promise<boolean> => {
    setBusy(true);
    setRefusal("");
    try {
      const reception = await request();
      const taken = reception.status === "accepted" || reception.status === "duplicate";
      if (!taken) setRefusal(reception.reason ?? "This is no longer open.");
      return taken;
    } catch (error) {
      setRefusal(error instanceof ApiError ? error.message : "Something went wrong. Try again.");
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, refusal, run };
}
