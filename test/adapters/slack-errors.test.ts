/** What each failure of a Slack call means, as a table. */

import { expect, test } from "vitest";
import { problemOf, toDeliveryError } from "../../src/adapters/slack/errors.ts";
import { DeliveryError } from "../../src/engine/index.ts";

const platform = (error: string, more: object = {}) => ({
  code: "slack_webapi_platform_error",
  data: { ok: false, error, ...more },
});
const request = (original: object) => ({ code: "slack_webapi_request_error", original });

test.each([
  ["a 429", { code: "slack_webapi_rate_limited_error", retryAfter: 7 }, "wait", 7000],
  [
    "a 429 without a time",
    new Error("Retry header did not contain a valid timeout (url: x, retry-after header: null)"),
    "wait",
    5000,
  ],
  ["ok:false ratelimited", platform("ratelimited", { response_metadata: { retryAfter: 3 } }), "wait", 3000],
  ["ok:false rate_limited", platform("rate_limited"), "wait", 1000],
  ["a refused connection", request({ cause: { code: "ECONNREFUSED" } }), "wait", 2000],
  ["an unknown host", request({ cause: { code: "ENOTFOUND" } }), "wait", 2000],
  ["a reset connection", request({ cause: { code: "ECONNRESET" } }), "unknown", 0],
  ["a time limit", request({ name: "TimeoutError" }), "unknown", 0],
  ["a 503", { code: "slack_webapi_http_error", statusCode: 503 }, "unknown", 0],
  ["a 404", { code: "slack_webapi_http_error", statusCode: 404 }, "unknown", 0],
  ["fatal_error", platform("fatal_error"), "unknown", 0],
  ["a proxy's page", platform("<html><body>Sign in</body></html>"), "unknown", 0],
  ["something unheard of", new TypeError("boom"), "unknown", 0],
  ["nothing", undefined, "unknown", 0],
  ["invalid_blocks", platform("invalid_blocks"), "content", 0],
  ["msg_blocks_too_long", platform("msg_blocks_too_long"), "content", 0],
  ["markdown_text_conflict", platform("markdown_text_conflict"), "content", 0],
  ["metadata_too_large", platform("metadata_too_large"), "content", 0],
  ["no_text", platform("no_text"), "content", 0],
  ["a code of tomorrow", platform("some_new_code"), "content", 0],
  ["channel_not_found", platform("channel_not_found"), "place", 0],
  ["cannot_reply_to_message", platform("cannot_reply_to_message"), "place", 0],
  ["messages_tab_disabled", platform("messages_tab_disabled"), "place", 0],
  ["restricted_action_read_only_channel", platform("restricted_action_read_only_channel"), "place", 0],
  ["invalid_auth", platform("invalid_auth"), "bot", 0],
  ["account_inactive", platform("account_inactive"), "bot", 0],
  ["missing_scope", platform("missing_scope", { needed: "files:write", provided: "chat:write" }), "bot", 0],
])("%s", (_what, error, problem, waitMs) => {
  expect(problemOf(error)).toMatchObject({ problem, waitMs });
  expect(toDeliveryError(error)).toMatchObject({ problem, waitMs, name: "DeliveryError" });
});

test("a missing permission is named with the way to get it", () => {
  expect(problemOf(platform("missing_scope", { needed: "files:write" })).text).toContain(
    "files:write under OAuth & Permissions",
  );
});

test("refused blocks are pointed at, their text is not repeated", () => {
  const text = problemOf(
    platform("invalid_blocks", { errors: ["'my secret words' is too long [json-pointer:/blocks/0/text]"] }),
  ).text;
  expect(text).toContain("/blocks/0/text");
  expect(text).not.toContain("secret words");
});

test("an error that is understood already stays as it is", () => {
  const error = new DeliveryError("wait", "later", { waitMs: 5 });
  expect(toDeliveryError(error)).toBe(error);
});
