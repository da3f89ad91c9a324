/**
 * Looks for a message of our own whose sending had no answer: by its nonce among what came back over the gateway, then in the channel's history, where
 * Discord does not always tell nonces, so that the same author and the same content count there too.
 */

import { createHash } from "node:crypto";
import type { Piece } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";
import { type Component, controlRows, wordsIn } from "./components.ts";
import { idAt } from "./inbound.ts";
import type { DiscordContent } from "./render.ts";
import { uploadName } from "./upload.ts";

/** Differences of clocks between us, the database and Discord, ms. */
const CLOCK_MARGIN_MS = 60_000;
const PAGES = 3;

/** The nonce of a piece: the same in every attempt, at most 25 characters. */
export function nonceOf(piece: Pick<Piece, "id">): string {
  const digest = createHash("sha256").update(piece.id).digest("hex");
  return BigInt(`0x${digest}`).toString(36).padStart(25, "0").slice(0, 25);
}

/** The message of an earlier attempt, or undefined. Rejects when Discord cannot be asked. */
export async function findPosted(
  bot: DiscordBot,
  piece: Piece,
  channelId: string,
): Promise<{ readonly id: string; readonly plain: boolean } | undefined> {
  const nonce = nonceOf(piece);
  const isPlain = (message: Fields) =>
    (Number(message.flags ?? 0) & (1 << 15)) === 0 && toList(message.components).length > 0;
  const echoed = bot.echoes.find(nonce);
  if (echoed !== undefined) return { id: echoed, plain: toFields(piece.progress).plain === true };
  let after = idAt((piece.attemptedAt?.getTime() ?? bot.context.clock.now() - 10 * 60_000) - CLOCK_MARGIN_MS);
  for (let page = 0; page < PAGES; page += 1) {
    const query = { after, limit: "100" };
    const messages = toList(await bot.calls.call("get", `/channels/${channelId}/messages`, { query }));
    const found = messages.find((message) => isOurs(bot, message) && isPiece(message, nonce, piece));
    const id = toText(found?.id);
    if (found && id !== undefined) return { id, plain: isPlain(found) };
    const newest = toText(messages[0]?.id);
    if (messages.length < 100 || newest === undefined) return undefined;
    after = newest;
  }
  return undefined;
}

function isOurs(bot: DiscordBot, message: Fields): boolean {
  return toText(toFields(message.author).id) === bot.self.botUserId;
}

function isPiece(message: Fields, nonce: string, piece: Piece): boolean {
  if (message.nonce !== undefined && message.nonce !== null) return String(message.nonce) === nonce;
  return isSame(message, piece.content as DiscordContent);
}

/** The same content, said by us since the attempt began. */
function isSame(message: Fields, content: DiscordContent): boolean {
  switch (content.kind) {
    case "text":
      return toText(message.content)?.trim() === content.content.trim();
    case "card": {
      const wanted = idsOf(content.components);
      const shown = idsOf(toList(message.components));
      if (wanted.length > 0) return wanted.join() === shown.join();
      return wordsIn(toList(message.components)) === wordsIn(content.components);
    }
    case "gallery":
      return namesOf(message) === content.files.map(uploadName).join();
    case "file":
      return namesOf(message) === uploadName(content.file, 0);
  }
}

function idsOf(components: readonly Component[]): readonly string[] {
  return controlRows(components).flatMap((row) =>
    toList(row.components).flatMap((item) => toText(item.custom_id) ?? []),
  );
}

function namesOf(message: Fields): string {
  return toList(message.attachments)
    .map((file) => toText(file.filename) ?? "")
    .join();
}
