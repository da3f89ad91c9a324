/**
 * What everything is compared with: a bare @slack/bolt program that says back each direct message and mention, and keeps nothing. One app per
 * account given in the environment variable ECHO_APPS, each on Socket Mode or HTTP; prints "ready" with the ports of the HTTP ones.
 */
import bolt from "@slack/bolt";
import { answerQuestions, reach } from "./probe.mjs";

answerQuestions();
reach("modules");
const { apiUrl, apps } = JSON.parse(process.env.ECHO_APPS ?? "{}");
const ports = {};

async function startApp({ id, botToken, appToken, signingSecret }) {
  const app = new bolt.App({
    token: botToken,
    ...(appToken ? { appToken, socketMode: true } : { signingSecret }),
    logLevel: bolt.LogLevel.ERROR,
    clientOptions: { slackApiUrl: apiUrl },
  });
  app.event("message", async ({ event, client }) => {
    if (event.channel_type === "im" && !event.bot_id) await client.chat.postMessage(answerTo(event));
  });
  app.event("app_mention", async ({ event, client }) => {
    await client.chat.postMessage(answerTo(event));
  });
  const server = await app.start(appToken ? undefined : { port: 0, host: "127.0.0.1" });
  if (!appToken) ports[id] = server.address().port;
}

function answerTo({ channel, text, ts, thread_ts: thread }) {
  return { channel, thread_ts: thread ?? ts, text: `You said: ${text}` };
}

await Promise.all(apps.map(startApp));
console.log(JSON.stringify({ msg: "ready", ports }));
