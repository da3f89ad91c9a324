/**
 * The demo model's pictures and document, made by code: no binary files in the repository. They are made once; a
 * second start finds them in place. The caller gives a folder that SendMessage may read from (the workspace).
 */

import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";

/** Files the demo model sends, as `file://` URLs. */
export interface DemoFiles {
  readonly images: readonly { readonly url: string; readonly alt: string }[];
  readonly document: { readonly url: string; readonly alt: string };
}

type Colour = readonly [number, number, number];
/** Colour at a point; both coordinates run from 0 to 1, y downwards. */
type Painter = (x: number, y: number) => Colour;

const WIDTH = 480;
const HEIGHT = 320;

const PICTURES: readonly { readonly name: string; readonly alt: string; readonly paint: Painter }[] = [
  { name: "sunrise.png", alt: "A yellow sun rising over a calm blue sea", paint: paintSunrise },
  { name: "hills.png", alt: "Green hills one behind the other under an evening sky", paint: paintHills },
  { name: "tiles.png", alt: "A mosaic of round tiles in warm colours", paint: paintTiles },
  { name: "orbits.png", alt: "Three planets on rings around a small star", paint: paintOrbits },
];

const DOCUMENT = `# Demo notes

This file was made by the demo model to show how an attachment looks.

| Item | Amount |
|---|---:|
| Pictures | ${PICTURES.length} |
| Language models | 0 |

Nothing in here is real.
`;

/** Writes the files into `dir` (created if missing) unless they are there, and returns their addresses. Rejects if the folder is not writable. */
export async function createDemoFiles(dir: string): Promise<DemoFiles> {
  await mkdir(dir, { recursive: true });
  const images = [];
  for (const { name, alt, paint } of PICTURES)
    images.push({ url: await place(join(dir, name), () => encodePng(paint)), alt });
  const document = {
    url: await place(join(dir, "demo-notes.md"), () => Buffer.from(DOCUMENT)),
    alt: "Demo notes, a Markdown file",
  };
  return { images, document };
}

/** A file that is there is taken as right: it came into place whole, and painting costs start-up time. */
async function place(path: string, make: () => Buffer): Promise<string> {
  // Missing is the usual case on a first start.
  const present = await stat(path).catch(() => undefined);
  if (!present?.isFile()) {
    await writeFile(`${path}.new`, make());
    await rename(`${path}.new`, path);
  }
  return pathToFileURL(path).href;
}

function encodePng(paint: Painter): Buffer {
  const row = 1 + WIDTH * 3;
  const pixels = Buffer.alloc(row * HEIGHT);
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const colour = paint((x + 0.5) / WIDTH, (y + 0.5) / HEIGHT);
      colour.forEach((value, i) => {
        pixels[y * row + 1 + x * 3 + i] = Math.max(0, Math.min(255, Math.round(value)));
      });
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  // 8 bits per channel, RGB; compression, filter and interlace stay 0.
  header.set([8, 2], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(pixels);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(data.length, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), body.length + 4);
  return frame;
}

function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const part = Math.max(0, Math.min(1, share));
  return [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part, from[2] + (to[2] - from[2]) * part];
}

/** 1 inside a disc, 0 outside, with a soft edge. The picture's width counts as 1.5. */
function disc(x: number, y: number, centreX: number, centreY: number, radius: number): number {
  const distance = Math.hypot((x - centreX) * 1.5, y - centreY);
  return Math.max(0, Math.min(1, (radius - distance) * HEIGHT + 0.5));
}

function paintSunrise(x: number, y: number): Colour {
  const horizon = 0.62;
  if (y > horizon) {
    const depth = (y - horizon) / (1 - horizon);
    const sea = mix([86, 140, 190], [22, 48, 96], depth);
    const glitter = Math.abs(x - 0.5) < 0.06 + depth * 0.12 && Math.sin(depth * 60 + Math.sin(x * 40)) > 0.2;
    return glitter ? mix(sea, [255, 214, 130], 0.7 - depth * 0.5) : sea;
  }
  const sky = mix([70, 84, 150], [255, 176, 120], y / horizon);
  const glow = Math.max(0, 1 - Math.hypot((x - 0.5) * 1.5, y - horizon) / 0.6);
  return mix(mix(sky, [255, 226, 150], glow * 0.7), [255, 238, 170], disc(x, y, 0.5, horizon - 0.06, 0.17));
}

function paintHills(x: number, y: number): Colour {
  let colour = mix([58, 60, 110], [250, 190, 160], y * 1.3);
  colour = mix(colour, [255, 244, 224], disc(x, y, 0.78, 0.22, 0.08));
  for (let layer = 0; layer < 5; layer++) {
    const crest =
      0.42 + layer * 0.12 + Math.sin(x * (4 + layer) + layer * 2.1) * 0.06 + Math.sin(x * 13 + layer * 5) * 0.012;
    const cover = Math.max(0, Math.min(1, (y - crest) * HEIGHT));
    colour = mix(colour, mix([150, 170, 150], [24, 66, 48], layer / 4), cover);
  }
  return colour;
}

function paintTiles(x: number, y: number): Colour {
  const palette: readonly Colour[] = [
    [233, 116, 81],
    [244, 187, 68],
    [196, 78, 92],
    [252, 222, 156],
    [120, 60, 90],
  ];
  const [column, line] = [Math.floor(x * 12), Math.floor(y * 8)];
  const pick = palette[(column * 7 + line * 13 + column * line) % palette.length] ?? [0, 0, 0];
  const inner = palette[(column * 3 + line * 5 + 1) % palette.length] ?? [0, 0, 0];
  const [centreX, centreY] = [(column + 0.5) / 12, (line + 0.5) / 8];
  return mix(mix([48, 30, 44], pick, disc(x, y, centreX, centreY, 0.056)), inner, disc(x, y, centreX, centreY, 0.03));
}

function paintOrbits(x: number, y: number): Colour {
  let colour = mix([18, 20, 46], [46, 28, 74], x * 0.6 + y * 0.4);
  const distance = Math.hypot((x - 0.5) * 1.5, y - 0.5);
  for (const radius of [0.18, 0.3, 0.42]) {
    colour = mix(colour, [130, 130, 190], Math.max(0, 1 - Math.abs(distance - radius) * HEIGHT) * 0.8);
  }
  colour = mix(colour, [255, 220, 140], Math.max(0, 1 - distance / 0.2) * 0.5);
  colour = mix(colour, [255, 240, 190], disc(x, y, 0.5, 0.5, 0.06));
  colour = mix(colour, [120, 200, 255], disc(x, y, 0.5 + 0.18 / 1.5, 0.5, 0.025));
  colour = mix(colour, [240, 140, 110], disc(x, y, 0.5 - (0.3 * 0.8) / 1.5, 0.5 - 0.3 * 0.6, 0.035));
  return mix(colour, [150, 230, 170], disc(x, y, 0.5 + (0.42 * 0.6) / 1.5, 0.5 + 0.42 * 0.8, 0.045));
}
