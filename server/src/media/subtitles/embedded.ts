import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SubtitleTrack } from '@vitrine/contract/assets';
import { canonicalLanguage } from '@vitrine/contract/sidecars';
import type { Ffmpeg, Source, SubtitleStream, TimedText } from '../ffmpeg/ffmpeg.ts';
import { type EmbeddedSubtitles, nullIfBroken } from '../still.ts';
import { type Cue, cueText, writeVtt } from './cue.ts';
import { readCues } from './text-formats.ts';

/** Maximum number of tracks of a file. */
const MOST_TRACKS = 50;
/** Duration of a text that has none, in milliseconds, unless another follows earlier. */
const MOST_SHOWN_MS = 5000;

/** Text codecs of FFmpeg with the format that their texts are like. */
const formats: ReadonlyMap<string, SubtitleTrack['source_format']> = new Map([
  ['subrip', 'srt'],
  ['srt', 'srt'],
  ['text', 'srt'],
  ['mov_text', 'srt'],
  ['webvtt', 'vtt'],
  ['ass', 'ass'],
  ['ssa', 'ssa'],
]);

/** Codecs of subtitles that are pictures. */
const pictureCodecs: readonly string[] = ['hdmv_pgs_subtitle', 'dvd_subtitle', 'dvb_subtitle', 'xsub'];

/** Returns how many subtitles of a film are pictures, which cannot be shown beside it. */
export function countPictures(streams: readonly SubtitleStream[]): number {
  return streams.filter(({ codec }) => pictureCodecs.includes(codec)).length;
}

function assTime(milliseconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const hundredths = Math.round(milliseconds / 10);
  const seconds = Math.floor(hundredths / 100);
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${two(hundredths % 100)}`;
}

/** Returns the text of a sample of MPEG-4 timed text (3GPP TS 26.245, 5.17), without its styles. */
function timedText(data: Buffer): string {
  if (data.length < 2) return '';
  const text = data.subarray(2, 2 + data.readUInt16BE(0));
  const mark = text.subarray(0, 2).toString('hex');
  if (mark === 'feff') return new TextDecoder('utf-16be').decode(text);
  return new TextDecoder(mark === 'fffe' ? 'utf-16le' : 'utf-8').decode(text);
}

interface Timed {
  start: number;
  end: number;
  data: Buffer;
}

function cuesOf(codec: string, texts: readonly Timed[]): Cue[] {
  if (codec === 'ass' || codec === 'ssa') {
    const lines = texts.map(({ start, end, data }) => {
      // ReadOrder, Layer, Style, Name, MarginL, MarginR, MarginV, Effect, Text
      const [, layer = '0', ...rest] = data
        .toString()
        .replace(/[\r\n]+/g, '\\N')
        .split(',');
      return `Dialogue: ${layer},${assTime(start)},${assTime(end)},${rest.join(',')}`;
    });
    const format = 'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text';
    return readCues(['[Events]', format, ...lines].join('\n'), 'ass');
  }
  const dialect = codec === 'webvtt' ? 'vtt' : codec === 'mov_text' ? 'plain' : 'srt';
  return texts.map(({ start, end, data }) => {
    const text = codec === 'mov_text' ? timedText(data) : data.toString();
    return { start, end, text: cueText(text.replace(/\r\n?/g, '\n'), dialect), settings: '' };
  });
}

/** Returns the times in milliseconds. A text without a duration is shown until the next one. */
function timed(texts: readonly TimedText[]): Timed[] {
  const sorted = texts.toSorted((a, b) => a.startSeconds - b.startSeconds);
  return sorted.map(({ startSeconds, durationSeconds, data }, index) => {
    const start = Math.max(0, Math.round(startSeconds * 1000));
    const next = sorted.slice(index + 1, index + 20).find((later) => later.startSeconds > startSeconds);
    const until = next === undefined ? Infinity : Math.round(next.startSeconds * 1000);
    const end =
      durationSeconds > 0
        ? start + Math.round(durationSeconds * 1000)
        : Math.min(until, start + MOST_SHOWN_MS);
    return { start, end, data };
  });
}

/** Returns a tag that no other track of the file has: `en`, `en-x-forced`, `en-x-sdh`, `en-x-2`. */
function tagOf({ language, kind }: SubtitleStream, taken: ReadonlySet<string>): string {
  const known = canonicalLanguage(language.replaceAll('_', '-')) ?? 'und';
  const plain = known.length > 80 || known.startsWith('x-') ? 'und' : known;
  const base = kind === 'full' ? plain : `${plain.replace(/-x-.*$/, '')}-x-${kind}`;
  const stem = base.includes('-x-') ? `${base}-` : `${base}-x-`;
  for (let count = 1; ; count += 1) {
    const tag = count === 1 ? base : `${stem}${count}`;
    if (!taken.has(tag)) return tag;
  }
}

const kindNames = { full: '', forced: 'Forced', sdh: 'SDH' } as const;

/**
 * Writes the text subtitles inside a film as WebVTT to `outDir`. Leaves out tracks that are pictures or have no text.
 */
export async function readEmbedded(
  ffmpeg: Ffmpeg,
  source: Source,
  streams: readonly SubtitleStream[],
  outDir: string,
): Promise<EmbeddedSubtitles[]> {
  const tracks = streams.filter(({ codec }) => formats.has(codec)).slice(0, MOST_TRACKS);
  if (tracks.length === 0) return [];
  const indices = tracks.map(({ index }) => index);
  const texts = (await nullIfBroken(ffmpeg.texts(source, indices))) ?? [];
  const made: EmbeddedSubtitles[] = [];
  const taken = new Set<string>();
  for (const track of tracks) {
    const own = timed(texts.filter(({ index }) => index === track.index));
    const written = writeVtt(cuesOf(track.codec, own));
    const format = formats.get(track.codec);
    if (written === null || format === undefined) continue;
    const lang = tagOf(track, taken);
    taken.add(lang);
    const path = join(outDir, `subtitles-${track.index}.vtt`);
    await writeFile(path, written);
    const label = [track.title.trim(), track.title === '' ? kindNames[track.kind] : '']
      .join('')
      .slice(0, 200);
    made.push({ lang, label: label.toWellFormed().replace(/\p{Cc}/gu, ''), format, path });
  }
  return made;
}
