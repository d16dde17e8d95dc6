import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { drawWaveform, measure, type Waveform } from '../audio/waveform.ts';
import type { Ffmpeg, Probe, Source } from '../ffmpeg/ffmpeg.ts';
import { sniff } from '../sniff.ts';
import { BrokenFile, type MadeRendition, nullIfBroken, type Still } from '../still.ts';
import { sharp, strictnessOf } from '../tuned-sharp.ts';
import { mend } from './mend.ts';

/** Pixel limit of an album cover. */
const MOST_COVER_PIXELS = 100_000_000;
/** Cover types that libvips opens. */
const coverTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'];

/** Returns the attached picture of an audio file if it can be drawn. */
async function findCover(
  player: Ffmpeg,
  source: Source,
  cover: Probe['cover'],
  outDir: string,
): Promise<Still['picture']> {
  if (cover === null) return null;
  const bytes = await nullIfBroken(player.cover(source, cover.index));
  if (bytes === null) return null;
  const path = join(outDir, 'cover');
  await writeFile(path, bytes);
  const { mime } = await sniff(path);
  if (!coverTypes.includes(mime)) return null;
  const isDrawn = (picture: string) =>
    sharp(picture, { ...strictnessOf(mime), limitInputPixels: MOST_COVER_PIXELS })
      .resize(32, 32)
      .toBuffer()
      .then(
        () => true,
        () => false,
      );
  if (await isDrawn(path)) return { path, mime };
  const whole = await mend({ path, mime }, outDir);
  return whole !== null && (await isDrawn(whole.path)) ? whole : null;
}

async function writeWaveform(waveform: Waveform, outDir: string): Promise<MadeRendition[]> {
  const { durationSeconds, peaks } = waveform;
  const { data, info } = await sharp(Buffer.from(drawWaveform(waveform)))
    .png()
    .toBuffer({ resolveWithObject: true });
  const json = Buffer.from(JSON.stringify({ duration_seconds: durationSeconds, peaks }));
  const { width, height } = info;
  const files = [
    { key: 'waveform.png', contentType: 'image/png', bytes: data, width, height },
    { key: 'waveform.json', contentType: 'application/json', bytes: json },
  ] as const;
  return Promise.all(
    files.map(async ({ bytes, ...file }) => {
      const path = join(outDir, file.key);
      await writeFile(path, bytes);
      return { ...file, path, sizeBytes: bytes.length };
    }),
  );
}

/** Returns the waveform, cover and facts of a file with audio. */
export async function stillOfSound(
  player: Ffmpeg,
  source: Source,
  { audio, cover, durationSeconds }: Probe,
  outDir: string,
  report: (part: number) => void = () => {},
): Promise<Still> {
  if (audio === null) throw new BrokenFile(sentence('it has neither pictures nor sound that can be decoded'));
  const waveform = await measure(player, source, audio, (seconds) => {
    if (durationSeconds !== null) report(seconds / durationSeconds);
  });
  const made = waveform === null ? [] : await writeWaveform(waveform, outDir);
  const drawn = made.find(({ key }) => key === 'waveform.png');
  const drawing = drawn === undefined ? null : { path: drawn.path, mime: drawn.contentType };
  return {
    picture: (await findCover(player, source, cover, outDir)) ?? drawing,
    extras: made,
    facts: {
      duration_seconds: waveform?.durationSeconds ?? durationSeconds ?? 0,
      has_video: false,
      has_sound: true,
      audio_codec: audio.codec,
    },
  };
}
