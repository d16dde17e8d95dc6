import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renditions } from '@vitrine/contract/renditions';
import pLimit from 'p-limit';
import type { Ffmpeg, Source, VideoStream } from '../ffmpeg/ffmpeg.ts';
import { contain, type Shape } from '../ladder.ts';
import { type MadeRendition, nullIfBroken } from '../still.ts';
import { sharp } from '../tuned-sharp.ts';
import { pictureFilters } from './filters.ts';

/** Longest edge of a tile, in pixels. */
const TILE_EDGE = 192;
const MOST_TILES = 100;
const COLUMNS = Math.floor(renditions['sprites.jpg'].largestSide / TILE_EDGE);
/** Size of the largest file that is read from beginning to end for its tiles; others are sought through. */
const MOST_PASS_BYTES = 2 * 1024 ** 3;
/** Time limit of that pass. A video of which every frame is a keyframe is faster to seek through. */
const MOST_PASS_MS = 20_000;
/** Time limit of seeking; tiles are optional and are skipped if they take longer. */
const MOST_SEEKING_MS = 60_000;
/** Number of pixels of all frames up to which every frame is decoded: three minutes of 1920 x 1080. */
const MOST_EXACT_PIXELS = 10e9;

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

interface SpriteOptions extends Shape {
  count: number;
  interval: number;
  filter: string;
  /** Takes the fraction of frames that are finished. */
  report(part: number): void;
}

/** Returns whether decoding every frame of a video is cheap enough for optional tiles. */
function isCheap({ width, height, frameRate }: VideoStream, durationSeconds: number): boolean {
  const rate = frameRate === null ? 25 : frameRate.num / frameRate.den;
  return durationSeconds * rate * width * height <= MOST_EXACT_PIXELS;
}

/** Takes frames in one pass over the file. Returns null if that takes too long. */
async function takeInOnePass(
  ffmpeg: Ffmpeg,
  source: Source,
  video: VideoStream,
  options: SpriteOptions & { exact: boolean },
): Promise<Buffer[] | null> {
  const signal = AbortSignal.timeout(MOST_PASS_MS);
  const taken: Buffer[] = [];
  const take = async () => {
    for await (const pixels of ffmpeg.frames(source, video, { ...options, signal })) {
      taken.push(pixels);
      options.report(taken.length / options.count);
    }
  };
  // A file that is damaged somewhere has the frames before that.
  await nullIfBroken(take());
  return signal.aborted ? null : taken;
}

/** Takes keyframes by seeking to each. Returns null if that takes too long. */
async function takeBySeeking(
  ffmpeg: Ffmpeg,
  source: Source,
  video: VideoStream,
  { count, interval, report, ...options }: SpriteOptions,
): Promise<(Buffer | null)[] | null> {
  const deadline = performance.now() + MOST_SEEKING_MS;
  const limit = pLimit(2);
  const take = async (index: number): Promise<Buffer | null> => {
    if (performance.now() > deadline) return null;
    report(index / count);
    const atSeconds = timeOfTile({ interval }, index);
    return ffmpeg.frame(source, video, { ...options, atSeconds, exact: false });
  };
  const taken = await Promise.all(
    Array.from({ length: count }, (_, index) => limit(() => nullIfBroken(take(index)))),
  );
  return performance.now() > deadline ? null : taken;
}

/**
 * Takes up to 100 frames, about a second or more apart. Returns null if there are none or if it takes too long. Seeks in
 * files of more than `mostPassBytes`, and reads others in one pass.
 */
export async function takeTiles(
  ffmpeg: Ffmpeg,
  source: Source,
  video: VideoStream,
  durationSeconds: number,
  {
    mostPassBytes = MOST_PASS_BYTES,
    report = () => {},
  }: { mostPassBytes?: number; report?: (part: number) => void } = {},
): Promise<Tiles | null> {
  const shape = contain(TILE_EDGE, video);
  const count = Math.min(MOST_TILES, Math.max(1, Math.round(durationSeconds)));
  const interval = durationSeconds / count;
  const filter = await pictureFilters(ffmpeg, video, shape, 'rgb24');
  const options = { count, interval, filter, ...shape, report };
  // Decodes every frame if keyframes are probably farther apart than tiles.
  const exact = interval < 5 && isCheap(video, durationSeconds);
  const { size } = await stat(source.path);
  const isRead = size <= mostPassBytes && durationSeconds > 0;
  const inOnePass = isRead ? await takeInOnePass(ffmpeg, source, video, { ...options, exact }) : null;
  const taken = inOnePass ?? (await takeBySeeking(ffmpeg, source, video, options));
  let last = taken?.find((tile) => tile !== null) ?? null;
  if (taken === null || last === null) return null;
  const pixels: Buffer[] = [];
  // Repeats the previous tile for a damaged or missing one.
  for (let index = 0; index < count; index += 1) {
    last = taken[index] ?? last;
    pixels.push(last);
  }
  return { shape, interval, pixels };
}

function timestamp(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const part = (size: number, modulus: number) =>
    String(Math.floor(milliseconds / size) % modulus).padStart(2, '0');
  const fraction = String(milliseconds % 1000).padStart(3, '0');
  return `${part(3_600_000, 100)}:${part(60_000, 60)}:${part(1000, 60)}.${fraction}`;
}

/** Writes tiles as `sprites.jpg`, and as `sprites.vtt` the cues that map times to its regions. */
export async function writeSprites(
  { shape: { width, height }, interval, pixels }: Tiles,
  outDir: string,
): Promise<MadeRendition[]> {
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
  ] as const;
  return Promise.all(
    files.map(async ({ bytes, ...file }) => {
      const path = join(outDir, file.key);
      await writeFile(path, bytes);
      return { ...file, path, sizeBytes: bytes.length };
    }),
  );
}
