/**
 * Files on their way to Discord: opened, checked against what the server takes, named so that Discord keeps the name.
 * Invariant: only bytes from our own store are uploaded, never a path or an address; a file that is too large is refused before a byte is sent, with
 * words for the model.
 */

import { buffer } from "node:stream/consumers";
import type { FileRef, Place } from "../../engine/index.ts";
import { DeliveryError } from "../../engine/index.ts";
import type { DiscordBot } from "./bot.ts";
import type { UploadFile } from "./clients.ts";
import { COMPONENTS_FLAG } from "./components.ts";
import { ALT_CHARS, clip, fileLimit } from "./limits.ts";

/** The bytes of files, ready to send. Throws DeliveryError when one is too large for the place. */
export async function openFiles(
  bot: DiscordBot,
  place: Place,
  files: readonly FileRef[],
): Promise<readonly UploadFile[]> {
  const limit = await limitOf(bot, place);
  for (const file of files) checkSize(file, limit);
  return Promise.all(
    files.map(async (file, index) => ({
      name: uploadName(file, index),
      data: await buffer(await bot.context.openFile(file)),
      contentType: file.mediaType,
    })),
  );
}

async function limitOf(bot: DiscordBot, { ref }: Place): Promise<number> {
  if (ref.kind === "direct") return fileLimit(0);
  // A server that does not tell its tier takes at least what every server takes.
  const guild = await bot.directory.guild(bot.calls, ref.workspaceId).catch(() => undefined);
  return fileLimit(guild?.tier ?? 0);
}

function checkSize(file: FileRef, limit: number): void {
  if (file.size < 1)
    throw new DeliveryError("content", `The file ${file.name} is empty; Discord takes no empty files.`);
  if (file.size <= limit) return;
  throw new DeliveryError(
    "content",
    `The file ${file.name} has ${inMib(file.size)} MiB and Discord takes at most ${inMib(limit)} MiB here. Send a smaller or compressed version, or a link to it.`,
  );
}

function inMib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1).replace(/\.0$/, "");
}

/** Discord rewrites names with other signs, and then a gallery no longer finds its files. Equal names are told apart by position. */
export function uploadName(file: Pick<FileRef, "name">, index: number): string {
  const clean = file.name
    .normalize("NFC")
    .replace(/[^\w.-]+/g, "_")
    .replace(/^[_.]+/, "");
  const name = clean === "" ? "file" : clean.slice(-100);
  return index === 0 ? name : `${index + 1}-${name}`;
}

/** A message that shows pictures side by side, with their descriptions. */
export function galleryBody(
  files: readonly FileRef[],
  uploads: readonly UploadFile[],
): Readonly<Record<string, unknown>> {
  const described = files.map((file) => (file.alt?.trim() ? { description: clip(file.alt.trim(), ALT_CHARS) } : {}));
  const items = uploads.map((upload, id) => ({ media: { url: `attachment://${upload.name}` }, ...described[id] }));
  const attachments = uploads.map((upload, id) => ({ id: String(id), filename: upload.name, ...described[id] }));
  return { flags: COMPONENTS_FLAG, components: [{ type: 12, items }], attachments };
}
