/** The web adapter under the suite every adapter passes; the visitor behaves as the page does, with its outbox and its private lines. */

import type { WireContent, WirePost, WireReception } from "../../src/adapters/web/wire.ts";
import type { InboundEvent, KeyValueStore, Reception } from "../../src/engine/index.ts";
import { createMemoryKv } from "../support/memory-kv.ts";
import { Visitor } from "../support/web-visitor.ts";
import { startWebWorld } from "../support/web-world.ts";
import { adapterContract, type ContractHarness, type SeenMessage } from "./adapter-contract.ts";

adapterContract("web", openHarness);

async function openHarness(): Promise<ContractHarness> {
  const losing = createLosingKv();
  const world = await startWebWorld({
    kv: losing.kv,
    bots: [{ id: "ada", name: "Ada", role: "Research", model: "demo" }],
  });
  const visitor = new Visitor(world.address);
  const me = await visitor.enter("Alice");
  const channelId = `dm.ada.${me.id}`;
  const reasons: string[] = [];
  let unanswered = 0;
  let count = 0;
  const deliverUntilTaken = async (text: string) => {
    unanswered += 1;
    count += 1;
    const clientId = `message-${count}`;
    while ((await visitor.say(channelId, text, clientId)).status !== 200);
    unanswered -= 1;
  };
  const posts = async () => (await visitor.posts(channelId)).body.posts;
  return {
    adapter: world.adapter,
    received: world.events,
    receiveWith: (answer: (event: InboundEvent) => Promise<Reception>) => {
      world.onEvent = answer;
    },
    say: async (text) => void deliverUntilTaken(text),
    everythingAcknowledged: () => unanswered === 0,
    placeFor: (event) => ({ installationId: event.installationId, ref: event.conversation }),
    seen: async () => (await posts()).filter((post) => post.author.kind === "bot").map(toSeen),
    loseNextAnswer: losing.loseNext,
    click: async (nativeId, label) => {
      const seq = Number(nativeId);
      const post = (await posts()).find((one) => one.seq === seq);
      const value = controlsOf(post?.content).find((one) => one.label === label)?.value ?? "";
      count += 1;
      const click = { channelId, seq, clientId: `click-${count}-0`, choices: [value] };
      const answer = await visitor.post<WireReception>("/api/answers", click);
      if (answer.body.reason) reasons.push(answer.body.reason);
      return answer.status === 200;
    },
    privateNotices: async () => reasons,
    file: (name, mediaType, bytes) => world.addFile(name, mediaType, Buffer.from(bytes)),
    close: world.close,
  };
}

/** A store whose next record lands although its answer is lost. */
function createLosingKv(): { kv: KeyValueStore; loseNext: () => void } {
  const inner = createMemoryKv();
  let lose = false;
  const insert: KeyValueStore["insert"] = async (key, value) => {
    const inserted = await inner.insert(key, value);
    if (!lose || !key.startsWith("log/")) return inserted;
    lose = false;
    throw new Error("the connection was cut");
  };
  return {
    kv: { ...inner, insert },
    loseNext: () => {
      lose = true;
    },
  };
}

function toSeen(post: WirePost): SeenMessage {
  const { outcome, content } = post;
  const answered = [outcome?.byName, ...(outcome?.answer?.labels ?? [])].filter(Boolean).join(" ");
  return {
    nativeId: String(post.seq),
    text: `${wordsOf(content)} ${answered}`,
    files: filesOf(content),
    controls: outcome ? [] : controlsOf(content).map((one) => one.label),
  };
}

function wordsOf(content: WireContent): string {
  switch (content.type) {
    case "widget":
      return content.widget.prompt;
    case "cursor-agent":
      return content.bcId;
    case "secret-request":
      return content.secret.label;
    case "attachment":
      return content.file.name;
    default:
      return content.html;
  }
}

function filesOf(content: WireContent): readonly string[] {
  if (content.type === "attachment") return [content.file.name];
  return content.type === "text" ? content.images.map((image) => image.name) : [];
}

function controlsOf(content: WireContent | undefined): readonly { readonly label: string; readonly value: string }[] {
  if (content?.type === "widget") return content.widget.options;
  if (content?.type === "host-card") return content.controls;
  return content?.type === "secret-request" ? [{ label: "Store securely", value: "store" }] : [];
}
