/**
 * The little of PostgreSQL's wire protocol that sharing a session needs: where a message ends and what kind it is, and the few messages
 * that the server side writes itself. Bytes are passed on as they came; what is inside a message is left to PostgreSQL.
 */

/** Kind of a request to cancel a running statement; there is never one running that could be reached. */
export const cancelRequest = "cancel";

/** `kind` is the message's letter, or startup | encryption | cancel for the first, letterless ones. */
export interface Message {
  kind: string;
  bytes: Uint8Array;
}

const longestMessage = 256 * 1024 * 1024;
const firstCodes = new Map([
  [80_877_102, cancelRequest],
  [80_877_103, "encryption"],
  [80_877_104, "encryption"],
]);

/** Cuts one client's byte stream into messages. Throws when the stream is not PostgreSQL's protocol or a message is over 256 MB. */
export class MessageReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #started = false;

  push(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
  }

  /** The next whole message, or undefined until more bytes come. */
  next(): Message | undefined {
    const lead = this.#started ? 1 : 0;
    if (this.#length < lead + (this.#started ? 4 : 8)) return undefined;
    const head = this.#peek(lead + (this.#started ? 4 : 8));
    const size = lead + head.readInt32BE(lead);
    if (size < lead + 4 || size > longestMessage) throw new Error(`a message of ${size} bytes is not acceptable`);
    if (this.#length < size) return undefined;
    const bytes = this.#takeOut(size);
    if (this.#started) return { kind: String.fromCharCode(bytes[0] ?? 0), bytes };
    const kind = firstCodes.get(head.readInt32BE(4)) ?? "startup";
    this.#started = kind === "startup";
    return { kind, bytes };
  }

  /** Joins only as many chunks as needed: joining all for every message would make a long message quadratic. */
  #peek(length: number): Buffer {
    while ((this.#chunks[0]?.length ?? length) < length) {
      this.#chunks.splice(0, 2, Buffer.concat(this.#chunks.slice(0, 2)));
    }
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  #takeOut(size: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#peek(0) : Buffer.concat(this.#chunks);
    this.#chunks = size === all.length ? [] : [all.subarray(size)];
    this.#length -= size;
    return all.subarray(0, size);
  }
}

function framed(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind, "latin1");
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/** Ends a pipeline. */
export const syncMessage: Uint8Array = framed("S", Buffer.alloc(0));

/** One SQL text without parameters. */
export function simpleQuery(sql: string): Uint8Array {
  return framed("Q", Buffer.from(`${sql}\0`));
}

/** A FATAL error with its SQLSTATE, as the last word to a client. */
export function errorResponse(sqlState: string, text: string): Uint8Array {
  return framed("E", Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${text}\0\0`));
}
