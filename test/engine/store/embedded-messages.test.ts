/** Cutting a client's bytes into protocol messages. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { MessageReader, simpleQuery, syncMessage } from "../../../src/engine/store/embedded-messages.ts";

const startup = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0]);
const encryptionRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

function readAll(chunks: Buffer[]): string[] {
  const reader = new MessageReader();
  const found: string[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let message = reader.next(); message !== undefined; message = reader.next()) {
      found.push(`${message.kind}:${message.bytes.length}`);
    }
  }
  return found;
}

test("however the bytes are cut, the same messages come out", () => {
  const sql = fc.string({ maxLength: 40 });
  fc.assert(
    fc.property(
      fc.array(sql, { maxLength: 6 }),
      fc.array(fc.nat(7), { minLength: 1, maxLength: 60 }),
      (texts, cuts) => {
        const messages = [encryptionRequest, startup, ...texts.flatMap((text) => [simpleQuery(text), syncMessage])];
        const bytes = Buffer.concat(messages);
        const chunks: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = 1 + (cuts[turn % cuts.length] ?? 0);
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        const kinds = [
          "encryption:8",
          "startup:8",
          ...texts.flatMap((text) => [`Q:${6 + Buffer.byteLength(text)}`, "S:5"]),
        ];
        expect(readAll(chunks)).toEqual(kinds);
      },
    ),
  );
});

test("a length that no message can have is refused", () => {
  expect(() => readAll([startup, Buffer.from("Q\x7f\xff\xff\xff", "latin1")])).toThrow(/not acceptable/);
  expect(() => readAll([startup, Buffer.from("Q\0\0\0\x01", "latin1")])).toThrow(/not acceptable/);
});

test("bytes that are no PostgreSQL client are refused instead of being waited for", () => {
  expect(() => readAll([Buffer.from("GET / HTTP/1.1\r\n\r\n")])).toThrow(/not acceptable/);
});
