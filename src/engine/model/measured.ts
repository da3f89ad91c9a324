/**
 * Counts what models do: seconds, steps by outcome, tokens by kind, each under the name of the model that answered. Changes nothing about a reply.
 */

import type { Clock } from "../clock.ts";
import type { Metrics } from "../log.ts";
import type { Model } from "./model.ts";

/** The same model; every step counts in the metrics, with its time and tokens. */
export function measured(model: Model, parts: { readonly clock: Clock; readonly metrics: Metrics }): Model {
  return {
    ...model,
    async step(request, signal) {
      const started = parts.clock.now();
      const reply = await model.step(request, signal);
      parts.metrics.observe("parley_model_seconds", (parts.clock.now() - started) / 1000, { model: reply.model });
      parts.metrics.count("parley_model_steps_total", { model: reply.model, outcome: reply.ok ? "ok" : reply.problem });
      if (reply.ok) {
        const { inputTokens, outputTokens, cachedTokens } = reply.usage;
        parts.metrics.count("parley_model_tokens_total", { model: reply.model, kind: "input" }, inputTokens);
        parts.metrics.count("parley_model_tokens_total", { model: reply.model, kind: "output" }, outputTokens);
        parts.metrics.count("parley_model_tokens_total", { model: reply.model, kind: "cached" }, cachedTokens);
      }
      return reply;
    },
  };
}
