/**
 * Tokens, scopes and uploads: who may call what, and what an upload must look like.
 * The codes must be those Slack answers with.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { webClient } from "./clients.ts";
import type { App, Channel, Slack, User } from "./slack/index.ts";
import { startSlack } from "./slack/index.ts";

let slack: Slack;
let ada: App;
let poor: App;
let alice: User;
let general: Channel;

beforeAll(async () => {
  slack = await startSlack();
  ada = slack.addApp({ name: "Ada" });
  poor = slack.addApp({ name: "Poor", scopes: ["chat:write", "channels:read"] });
  alice = slack.addPerson("Alice");
  general = slack.addChannel("general", [ada, poor, alice]);
});
afterAll(() => slack.close());

test("a call without the needed scope says which one", async () => {
  const error: unknown = await webClient(slack, poor)
    .users.info({ user: alice.id })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    data: { error: "missing_scope", needed: "users:read", provided: "chat:write,channels:read" },
  });
  const custom = webClient(slack, poor).chat.postMessage({ channel: general.id, text: "x", username: "Ann" });
  await expect(custom).rejects.toMatchObject({ data: { error: "missing_scope", needed: "chat:write.customize" } });
});

test("no token, a wrong token and a revoked token are told apart", async () => {
  const call = async (headers: Record<string, string>) =>
    ((await (await fetch(`${slack.apiUrl}auth.test`, { method: "POST", headers })).json()) as { error: string }).error;
  expect(await call({})).toBe("not_authed");
  expect(await call({ authorization: "Bearer xoxb-wrong" })).toBe("invalid_auth");
  slack.revoke(poor);
  expect(await call({ authorization: `Bearer ${poor.botToken}` })).toBe("token_revoked");
  slack.revoke(poor, null);
});

test("more than fourteen files in one share fail inside Slack", async () => {
  const files = Array.from({ length: 15 }, (_item, index) => ({ id: `F${index}` }));
  const shared = webClient(slack, ada).apiCall("files.completeUploadExternal", { files, channel_id: general.id });
  await expect(shared).rejects.toMatchObject({ data: { error: "internal_error" } });
});

test("an upload of the wrong size is refused", async () => {
  const reserved = await webClient(slack, ada).files.getUploadURLExternal({ filename: "a.txt", length: 5 });
  const response = await fetch(reserved.upload_url ?? "", { method: "POST", body: "abc" });
  expect(response.status).toBe(400);
  expect(slack.refusals.at(-1)).toMatchObject({ method: "upload", error: "size_mismatch" });
});
