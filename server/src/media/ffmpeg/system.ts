import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { codePointsOf } from '../colour/video.ts';
import { BrokenFile, undecodable } from '../still.ts';
import { demuxerOf } from './demuxers.ts';
import {
  type Crop,
  type Ffmpeg,
  intervalFilter,
  MOST_TEXT_BYTES,
  type Output,
  type Probe,
  SAMPLE_RATE,
  type Source,
  type TimedText,
  type VideoStream,
} from './ffmpeg.ts';
import type { Program } from './program.ts';
import { isUnclear, MOST_COUNTED_SECONDS, readStreams, type StreamFacts } from './streams.ts';

/** Number of characters of the programs' output kept to explain a fault. */
const MOST_MESSAGES = 4000;
/** More than any description of a file's streams. */
const MOST_DESCRIPTION = 16 * 1024 ** 2;
/** Maximum number of threads; more cost memory and gain little. */
const THREADS = String(Math.min(16, availableParallelism()));

/** Returns the arguments that open a file with one demuxer and without access to other files. */
function opening({ path, mime }: Source, video: VideoStream | null = null): string[] {
  const { name, names } = demuxerOf(mime);
  const decoder = video === null || video.decoder === null ? [] : [`-c:${video.index}`, video.decoder];
  return [
    ...decoder,
    '-protocol_whitelist',
    'file',
    '-format_whitelist',
    names,
    '-f',
    name,
    '-i',
    `file:${path}`,
  ];
}

/** Returns one line of the program's output, if there is any, without memory addresses and paths. */
function reasonOf(messages: string): string {
  const lines = messages
    .split('\n')
    .map((line) => line.replace(/^\[[^\]]*\]\s*/, '').replace(/^file:\S*:\s*/, ''))
    .filter((line) => line.trim() !== '');
  const message = lines.find((line) => !/^(?:Last message|Error|Conversion)/.test(line)) ?? lines[0];
  return (message ?? '').replace(/file:\S+/g, 'the file').slice(0, 200);
}

/** Converts the failure of a program to an error. */
function faultOf(program: string, messages: string, code: number | null, signal: string | null): Error {
  if (/No space left on device|Disk quota exceeded/.test(messages))
    return Object.assign(new Error('the disk is full'), { code: 'ENOSPC', syscall: 'write' });
  if (/Cannot allocate memory|malloc.*failed/i.test(messages)) return new Error(`${program}: out of memory`);
  const isCrash = signal !== null && !['SIGKILL', 'SIGTERM', 'SIGINT'].includes(signal);
  if (isCrash) return new BrokenFile(sentence('it crashes {program} ({signal})', { program, signal }));
  if (signal !== null || code === null) return new Error(`${program} ended with ${signal}`);
  return new BrokenFile(undecodable(reasonOf(messages)));
}

/** Runs a program and yields its output as it arrives. Throws as described in Ffmpeg if the program fails. */
async function* output(
  program: string,
  args: readonly string[],
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  // Not detached, because it must belong to the decoder's process group, whose memory and time are limited.
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
  const kill = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', kill);
  let messages = '';
  child.stderr.on('data', (chunk: Buffer) => {
    if (messages.length < MOST_MESSAGES) messages += chunk;
  });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  ended.catch(() => {});
  let isRead = false;
  try {
    for await (const chunk of child.stdout) yield chunk;
    isRead = true;
  } finally {
    if (!isRead) child.kill('SIGKILL');
    await ended.catch(() => {});
    signal?.removeEventListener('abort', kill);
  }
  const end = await ended;
  if (end.code !== 0 && signal?.aborted !== true)
    throw faultOf(basename(program), messages, end.code, end.signal);
}

async function whole(program: string, args: readonly string[], most = Infinity): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of output(program, args)) {
    length += chunk.length;
    if (length > most) throw new BrokenFile(sentence('it has too many streams'));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

interface SideData {
  rotation?: number;
  dv_profile?: number;
  dv_bl_signal_compatibility_id?: number;
  crop_top?: number;
  crop_bottom?: number;
  crop_left?: number;
  crop_right?: number;
}

interface ProbedStream {
  index: number;
  codec_type?: string;
  codec_name?: string;
  width?: number;
  height?: number;
  sample_aspect_ratio?: string;
  avg_frame_rate?: string;
  r_frame_rate?: string;
  color_primaries?: string;
  color_transfer?: string;
  color_space?: string;
  field_order?: string;
  pix_fmt?: string;
  duration?: string;
  nb_frames?: string;
  nb_read_packets?: string;
  disposition?: Record<string, number>;
  side_data_list?: SideData[];
  tags?: Record<string, string>;
}

function fraction(text: string | undefined): { num: number; den: number } {
  const [num, den] = (text ?? '').split(/[:/]/).map(Number);
  return { num: num ?? Number.NaN, den: den ?? Number.NaN };
}

function seconds(text: string | undefined): number | null {
  const number = Number(text);
  return Number.isFinite(number) && number > 0 ? number : null;
}

const kinds = new Map<string | undefined, StreamFacts['kind']>([
  ['video', 'video'],
  ['audio', 'audio'],
  ['subtitle', 'subtitle'],
]);

/** Returns the edges that the container cuts off. The program that describes them also cuts them off. */
function cropOf({ side_data_list = [] }: ProbedStream): Crop | null {
  const found = side_data_list.find((data) => data.crop_top !== undefined);
  if (found === undefined) return null;
  const { crop_top: top = 0, crop_bottom: bottom = 0, crop_left: left = 0, crop_right: right = 0 } = found;
  return { top, bottom, left, right };
}

function dolbyVisionOf({ side_data_list = [] }: ProbedStream): StreamFacts['dolbyVision'] {
  const found = side_data_list.find((data) => data.dv_profile !== undefined);
  if (found?.dv_profile === undefined) return null;
  return { profile: found.dv_profile, compatibility: found.dv_bl_signal_compatibility_id ?? 0 };
}

function factsOf(stream: ProbedStream): StreamFacts {
  const { disposition = {}, tags = {} } = stream;
  const frames = Number(stream.nb_read_packets ?? stream.nb_frames ?? Number.NaN);
  const isOne = (flags: readonly string[]) => flags.some((flag) => disposition[flag] === 1);
  return {
    index: stream.index,
    kind: kinds.get(stream.codec_type) ?? 'other',
    codec: stream.codec_name ?? null,
    frames: Number.isFinite(frames) ? frames : null,
    disposition: {
      default: isOne(['default']),
      picture: isOne(['attached_pic', 'timed_thumbnails', 'still_image']),
      forced: isOne(['forced']),
      hearingImpaired: isOne(['hearing_impaired', 'captions']),
      secondary: isOne(['comment', 'hearing_impaired', 'visual_impaired', 'clean_effects', 'karaoke']),
    },
    width: stream.width ?? 0,
    height: stream.height ?? 0,
    pixelAspect: fraction(stream.sample_aspect_ratio),
    rotation: stream.side_data_list?.find((data) => data.rotation !== undefined)?.rotation ?? 0,
    averageRate: fraction(stream.avg_frame_rate),
    baseRate: fraction(stream.r_frame_rate),
    fieldOrder: ['tt', 'bb', 'tb', 'bt'].includes(stream.field_order ?? '') ? 'interlaced' : 'progressive',
    pixelFormat: stream.pix_fmt ?? '',
    alphaMode: tags.alpha_mode ?? tags.ALPHA_MODE ?? '',
    dolbyVision: dolbyVisionOf(stream),
    crop: cropOf(stream),
    colour: codePointsOf({
      primaries: stream.color_primaries,
      transfer: stream.color_transfer,
      matrix: stream.color_space,
    }),
    language: tags.language ?? tags.LANGUAGE ?? '',
    title: tags.title ?? tags.TITLE ?? '',
    timecode: tags.timecode ?? tags.TIMECODE ?? '',
  };
}

interface Described {
  format?: { duration?: string };
  streams?: ProbedStream[];
}

function durationOf({ format, streams = [] }: Described): number | null {
  const lengths = streams.flatMap((stream) => seconds(stream.duration) ?? []);
  return seconds(format?.duration) ?? (lengths.length > 0 ? Math.max(...lengths) : null);
}

/** Hexadecimal dumps are about five times as long as their bytes. */
const MOST_DUMP = 6 * MOST_TEXT_BYTES;

interface DumpedPackets {
  format?: { start_time?: string };
  packets?: { stream_index: number; pts_time?: string; duration_time?: string; data?: string }[];
}

function textsIn({ format, packets = [] }: DumpedPackets): TimedText[] {
  const start = Math.max(0, Number(format?.start_time ?? 0)) || 0;
  return packets.flatMap(({ stream_index: index, pts_time, duration_time, data = '' }) => {
    const startSeconds = Number(pts_time ?? Number.NaN) - start;
    if (!Number.isFinite(startSeconds)) return [];
    // Eight groups of four digits, then the characters.
    const hexadecimal = data
      .split('\n')
      .map((line) => line.slice(line.indexOf(':') + 1, line.indexOf(':') + 42).replaceAll(' ', ''));
    const bytes = Buffer.from(hexadecimal.join(''), 'hex');
    return [{ index, startSeconds, durationSeconds: Number(duration_time ?? 0) || 0, data: bytes }];
  });
}

const quiet = ['-hide_banner', '-nostdin', '-v', 'error', '-threads', THREADS];

function pairs(prefix: string, options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`-${name}${prefix}`, value]);
}

function outputArguments({ video, audio }: Probe, wanted: Output): string[] {
  const picture =
    wanted.video === null || video === null
      ? ['-vn']
      : [
          ...['-map', `0:${video.index}`, '-vf', wanted.video.filter, '-c:v', 'libx264'],
          ...pairs(':v', wanted.video.options),
        ];
  const sound =
    wanted.audio === null || audio === null
      ? ['-an']
      : [
          ...['-map', `0:${audio.index}`, '-c:a', 'aac', '-b:a', String(wanted.audio.bitRate)],
          ...['-ac', '2', '-ar', '48000'],
        ];
  const stripped = ['-sn', '-dn', '-map_metadata', '-1', '-map_chapters', '-1'];
  return [...picture, ...sound, ...stripped, '-f', wanted.format, ...pairs('', wanted.options), wanted.path];
}

/** Returns the system's programs as an Ffmpeg. */
export function systemFfmpeg({ ffmpeg, ffprobe }: Program): Ffmpeg {
  /** Runs ffmpeg and reports the time of its output in seconds. */
  async function follow(args: readonly string[], onTime: (seconds: number) => void): Promise<void> {
    let rest = '';
    for await (const chunk of output(ffmpeg, [...quiet, '-nostats', '-progress', 'pipe:1', ...args])) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const microseconds = Number(/^out_time_us=(\d+)$/.exec(line)?.[1] ?? Number.NaN);
        if (Number.isFinite(microseconds)) onTime(microseconds / 1e6);
      }
    }
  }

  return {
    async hasFilter(name) {
      const filters = (await whole(ffmpeg, ['-hide_banner', '-v', 'error', '-filters'])).toString();
      return filters.includes(` ${name} `);
    },
    async probe(source) {
      const describe = async (...options: string[]): Promise<Described> => {
        const wanted = ['-show_format', '-show_streams', '-of', 'json', ...options];
        const args = ['-hide_banner', '-v', 'error', ...wanted, ...opening(source)];
        return JSON.parse((await whole(ffprobe, args, MOST_DESCRIPTION)).toString());
      };
      let described = await describe();
      if (isUnclear((described.streams ?? []).map(factsOf))) {
        described = await describe('-count_packets', '-read_intervals', `%+${MOST_COUNTED_SECONDS}`);
      }
      const probe = readStreams((described.streams ?? []).map(factsOf), durationOf(described));
      const { video } = probe;
      if (video === null || video.decoder === null) return probe;
      const decoders = (await whole(ffmpeg, ['-hide_banner', '-v', 'error', '-decoders'])).toString();
      if (decoders.includes(` ${video.decoder} `)) return probe;
      return { ...probe, video: { ...video, decoder: null, hasAlpha: false } };
    },
    async findDuration(source) {
      let last = 0;
      const copied = ['-map', '0:v?', '-map', '0:a?', '-c', 'copy', '-f', 'null', '-'];
      await follow([...opening(source), ...copied], (time) => {
        last = Math.max(last, time);
      });
      return last;
    },
    async frame(source, stream, { atSeconds, filter, width, height, exact }) {
      const from = Math.max(0, atSeconds - demuxerOf(source.mime).seekMargin);
      const seek = [...(exact ? [] : ['-noaccurate_seek', '-skip_frame', 'nokey']), '-ss', String(from)];
      const rest = exact && from < atSeconds ? ['-ss', String(atSeconds - from)] : [];
      const pixels = ['-frames:v', '1', '-pix_fmt', 'rgb24', '-f', 'rawvideo', 'pipe:1'];
      const map = ['-map', `0:${stream.index}`, '-vf', filter];
      const drawn = await whole(ffmpeg, [
        ...quiet,
        ...seek,
        ...opening(source, stream),
        ...rest,
        ...map,
        ...pixels,
      ]);
      return drawn.length === width * height * 3 ? drawn : null;
    },
    async *frames(source, stream, { count, filter, width, height, exact, signal, interval }) {
      // The demuxers of some formats then skip other frames without reading them.
      const keys = exact ? [] : ['-skip_frame', 'nokey', '-discard:v', 'nokey'];
      const filters = `${intervalFilter({ interval })},${filter}`;
      const pixels = ['-frames:v', String(count), '-pix_fmt', 'rgb24', '-f', 'rawvideo', 'pipe:1'];
      const map = ['-map', `0:${stream.index}`, '-vf', filters];
      const size = width * height * 3;
      let rest = Buffer.alloc(0);
      for await (const chunk of output(
        ffmpeg,
        [...quiet, ...keys, ...opening(source, stream), ...map, ...pixels],
        signal,
      )) {
        rest = Buffer.concat([rest, chunk]);
        for (; rest.length >= size; rest = rest.subarray(size)) yield rest.subarray(0, size);
      }
    },
    async texts(source, indices) {
      const texts: TimedText[] = [];
      for (const index of indices) {
        const entries = 'packet=stream_index,pts_time,duration_time,data:format=start_time';
        const options = [
          '-select_streams',
          String(index),
          '-show_data',
          '-show_entries',
          entries,
          '-of',
          'json',
        ];
        const args = ['-hide_banner', '-v', 'error', ...options, ...opening(source)];
        texts.push(...textsIn(JSON.parse((await whole(ffprobe, args, MOST_DUMP)).toString())));
      }
      return texts;
    },
    async cover(source, index) {
      const copied = ['-map', `0:${index}`, '-c', 'copy', '-frames:v', '1', '-f', 'image2pipe', 'pipe:1'];
      const bytes = await whole(ffmpeg, [...quiet, ...opening(source), ...copied]);
      return bytes.length > 0 ? bytes : null;
    },
    samples: (source, stream) => {
      const raw = ['-ac', '1', '-ar', String(SAMPLE_RATE), '-f', 's16le', 'pipe:1'];
      return output(ffmpeg, [...quiet, ...opening(source), '-map', `0:${stream.index}`, ...raw]);
    },
    encode: (source, probe, outputs, onTime) =>
      follow(
        [
          '-y',
          ...opening(source, probe.video),
          ...outputs.flatMap((wanted) => outputArguments(probe, wanted)),
        ],
        onTime,
      ),
  };
}
