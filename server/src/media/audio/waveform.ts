import { renditions } from '@vitrine/contract/renditions';
import { sentence } from '../../platform/language/sentence.ts';
import { type AudioStream, type Ffmpeg, SAMPLE_RATE, type Source } from '../ffmpeg/ffmpeg.ts';
import { BrokenFile } from '../still.ts';

/** Number of samples per measurement: 50 ms. */
const WINDOW = SAMPLE_RATE / 20;
/** Maximum number of values, more than any screen shows. */
const MOST_PEAKS = 2000;
/** Time limit; the waveform is optional and is skipped if it takes longer. */
const MOST_MS = 120_000;

/** The loudest sample of each of a number of equally long parts. */
export interface Waveform {
  durationSeconds: number;
  /** From 0 to 1. */
  peaks: number[];
}

/** Merges neighbouring values until there are few enough. */
function joined(levels: readonly number[]): number[] {
  const size = Math.ceil(levels.length / MOST_PEAKS);
  return Array.from({ length: Math.ceil(levels.length / size) }, (_, index) => {
    const level = levels.slice(index * size, (index + 1) * size).reduce((a, b) => Math.max(a, b), 0);
    return Math.round((level / 32_768) * 1000) / 1000;
  });
}

/**
 * Measures the loudness over the whole length of an audio stream. Returns null if it takes too long. Throws
 * BrokenFile if nothing can be decoded. Passes the number of measured seconds to `onTime`.
 */
export async function measure(
  ffmpeg: Ffmpeg,
  source: Source,
  stream: AudioStream,
  onTime: (seconds: number) => void = () => {},
): Promise<Waveform | null> {
  const deadline = performance.now() + MOST_MS;
  const levels: number[] = [];
  let count = 0;
  let loudest = 0;
  let odd: Buffer = Buffer.alloc(0);
  for await (const chunk of ffmpeg.samples(source, stream)) {
    if (performance.now() > deadline) return null;
    const bytes = odd.length === 0 ? chunk : Buffer.concat([odd, chunk]);
    const end = bytes.length - (bytes.length % 2);
    for (let at = 0; at < end; at += 2) {
      loudest = Math.max(loudest, Math.abs(bytes.readInt16LE(at)));
      count += 1;
      if (count % WINDOW === 0) {
        levels.push(loudest);
        loudest = 0;
      }
    }
    odd = bytes.subarray(end);
    onTime(count / SAMPLE_RATE);
  }
  if (count % WINDOW !== 0) levels.push(loudest);
  if (levels.length === 0) throw new BrokenFile(sentence('it has no sound that can be decoded'));
  return { durationSeconds: count / SAMPLE_RATE, peaks: joined(levels) };
}

const WIDTH = renditions['waveform.png'].largestSide;
const HEIGHT = 400;
const BARS = 200;

/** Draws a waveform as SVG. */
export function drawWaveform({ peaks }: Waveform): string {
  const bars = Math.min(BARS, peaks.length);
  const step = WIDTH / bars;
  const drawn = Array.from({ length: bars }, (_, bar) => {
    const from = Math.floor((bar * peaks.length) / bars);
    const to = Math.floor(((bar + 1) * peaks.length) / bars);
    const height = Math.max(4, Math.max(...peaks.slice(from, to)) * HEIGHT * 0.9);
    const place = `x="${(bar * step + step * 0.2).toFixed(2)}" y="${((HEIGHT - height) / 2).toFixed(2)}"`;
    return `<rect ${place} width="${(step * 0.6).toFixed(2)}" height="${height.toFixed(2)}" rx="2"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
    <rect width="100%" height="100%" fill="#18181b"/><g fill="#a1a1aa">${drawn.join('')}</g></svg>`;
}
