import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Ffmpeg, Source, VideoStream } from '../ffmpeg/ffmpeg.ts';
import { contain, type Shape } from '../ladder.ts';
import { type MadeFile, unlessBroken } from '../stills/still.ts';
import { sharp } from '../tuned-sharp.ts';
import { pictureFilters } from './filters.ts';

/** Longest edge of a tile, in pixels. */
const TILE_EDGE = 192;
const MOST_TILES = 100;
const COLUMNS = 10;
/** Time limit; tiles are optional and are skipped if they take longer. */
const MOST_MS = 60_000;

/** Small pictures at equal intervals of a video. */
export interface Tiles {
  shape: Shape;
  /** Interval in seconds. */
  interval: number;
  /** RGB pixels. */
  pixels: readonly Buffer[];
}

/** Returns the middle of the interval of a tile, in seconds. */
export function timeOfTile(tiles: Pick<Tiles, 'interval'>, index: number): number {
  return (index + 0.5) * tiles.interval;
}

/** Takes up to 100 frames, about a second or more apart. Returns null if there are none or if it takes too long. */
export async function takeTiles(
  ffmpeg: Ffmpeg,
  source: Source,
  video: VideoStream,
  durationSeconds: number,
): Promise<Tiles | null> {
  const shape = contain(TILE_EDGE, video);
  const count = Math.min(MOST_TILES, Math.max(1, Math.round(durationSeconds)));
  const interval = durationSeconds / count;
  const filter = await pictureFilters(ffmpeg, video, shape, 'rgb24');
  const deadline = performance.now() + MOST_MS;
  const limit = pLimit(2);
  const take = async (index: number): Promise<Buffer | null> => {
    if (performance.now() > deadline) return null;
    const atSeconds = timeOfTile({ interval }, index);
    // Decodes exact frames if keyframes are probably farther apart than tiles.
    return ffmpeg.frame(source, video, { atSeconds, filter, ...shape, exact: interval < 5 });
  };
  const taken = await Promise.all(
    Array.from({ length: count }, (_, index) => limit(() => unlessBroken(take(index)))),
  );
  if (performance.now() > deadline) return null;
  let last = taken.find((tile) => tile !== null) ?? null;
  if (last === null) return null;
  const pixels: Buffer[] = [];
  // Repeats the previous tile for a damaged or missing one.
  for (const tile of taken) {
    last = tile ?? last;
    pixels.push(last);
  }
  return { shape, interval, pixels };
}

function timestamp(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const part = (size: number, of: number) => String(Math.floor(milliseconds / size) % of).padStart(2, '0');
  const fraction = String(milliseconds % 1000).padStart(3, '0');
  return `${part(3_600_000, 100)}:${part(60_000, 60)}:${part(1000, 60)}.${fraction}`;
}

/** Writes tiles as `sprites.jpg`, and as `sprites.vtt` the cues that map times to its regions. */
export async function writeSprites(
  { shape: { width, height }, interval, pixels }: Tiles,
  outDir: string,
): Promise<MadeFile[]> {
  const columns = Math.min(COLUMNS, pixels.length);
  const sheet = { width: columns * width, height: Math.ceil(pixels.length / columns) * height };
  const raw = Buffer.alloc(sheet.width * sheet.height * 3);
  const cues = pixels.map((tile, index) => {
    const x = (index % columns) * width;
    const y = Math.floor(index / columns) * height;
    for (let row = 0; row < height; row += 1) {
      tile.copy(raw, ((y + row) * sheet.width + x) * 3, row * width * 3, (row + 1) * width * 3);
    }
    const [from, to] = [index * interval, (index + 1) * interval].map(timestamp);
    return `${from} --> ${to}\nsprites.jpg#xywh=${x},${y},${width},${height}\n`;
  });
  const image = await sharp(raw, { raw: { ...sheet, channels: 3 } })
    .jpeg({ quality: 70 })
    .toBuffer();
  const text = Buffer.from(`WEBVTT\n\n${cues.join('\n')}`);
  const files = [
    { key: 'sprites.jpg', contentType: 'image/jpeg', bytes: image, ...sheet },
    { key: 'sprites.vtt', contentType: 'text/vtt', bytes: text },
  ];
  return Promise.all(
    files.map(async ({ bytes, ...file }) => {
      const path = join(outDir, file.key);
      await writeFile(path, bytes);
      return { ...file, path, sizeBytes: bytes.length };
    }),
  );
}
