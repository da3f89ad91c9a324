/** Real PNG files for tests, made from a function of the place, so that no picture has to be kept in the repository. */

import { crc32, deflateSync } from "node:zlib";

/** A picture of this size; `pixel` gives red, green and blue, 0–255. */
export function makePng(
  width: number,
  height: number,
  pixel: (x: number, y: number) => readonly [number, number, number],
): Uint8Array {
  const raw = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) raw.set(pixel(x, y), y * (1 + width * 3) + 1 + x * 3);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(raw)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Soft hills under a sky, different for each seed. */
export function makeLandscape(seed: number, width = 640, height = 420): Uint8Array {
  const hues = [
    [236, 180, 140, 80, 60, 90],
    [150, 190, 230, 60, 110, 90],
    [210, 170, 220, 60, 50, 110],
  ];
  const [r = 0, g = 0, b = 0, r2 = 0, g2 = 0, b2 = 0] = hues[seed % hues.length] ?? [];
  return makePng(width, height, (x, y) => {
    const hill = height * (0.55 + 0.12 * Math.sin(x / 70 + seed * 2) + 0.05 * Math.sin(x / 23 + seed));
    const far = height * (0.45 + 0.1 * Math.sin(x / 110 + seed * 5));
    if (y > hill) return [r2, g2, b2];
    if (y > far) return [(r2 + r) / 2, (g2 + g) / 2, (b2 + b) / 2];
    const light = 1 - (y / height) * 0.3;
    return [Math.min(255, r * light + 20), Math.min(255, g * light + 20), Math.min(255, b * light + 20)];
  });
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}
