import type { Decoder, Demuxer, Frame, Packet, Stream } from 'node-av';
import { sentence } from '../../platform/language/sentence.ts';
import { BrokenFile, undecodable } from '../still.ts';
import { demuxerOf } from './demuxers.ts';
import type { Crop, Source } from './ffmpeg.ts';
import type { StreamFacts } from './streams.ts';

/** Reading of files with the npm package `node-av`: opening, side data, packets and frames. */
export type Av = typeof import('node-av');

/** Filters that turn a frame upright; the ffmpeg program does so by default. */
function turning(matrix: Buffer | null): { filters: string[]; rotation: number } {
  if (matrix === null || matrix.length < 36) return { filters: [], rotation: 0 };
  const at = (index: number) => matrix.readInt32LE(index * 4) / 65_536;
  const [a, b, c, d] = [at(0), at(1), at(3), at(4)];
  const scale = [Math.hypot(a, c), Math.hypot(b, d)];
  if (scale[0] === 0 || scale[1] === 0) return { filters: [], rotation: 0 };
  const degrees = (Math.atan2(b / (scale[1] ?? 1), a / (scale[0] ?? 1)) * 180) / Math.PI;
  const rotation = (Math.round(degrees / 90) * 90 + 360) % 360;
  if (rotation === 90) return { filters: [`transpose=${c > 0 ? 'cclock_flip' : 'clock'}`], rotation };
  if (rotation === 180)
    return { filters: [...(a < 0 ? ['hflip'] : []), ...(d < 0 ? ['vflip'] : [])], rotation };
  if (rotation === 270) return { filters: [`transpose=${c < 0 ? 'clock_flip' : 'cclock'}`], rotation };
  return { filters: d < 0 ? ['vflip'] : [], rotation: 0 };
}

/** Reads the edges that a container cuts off. */
export function croppingIn(data: Buffer | null): Crop | null {
  if (data === null || data.length < 16) return null;
  const at = (index: number) => data.readUInt32LE(index * 4);
  return { top: at(0), bottom: at(1), left: at(2), right: at(3) };
}

/** Reads the configuration of Dolby Vision (`AVDOVIDecoderConfigurationRecord`). */
export function dolbyVisionIn(data: Buffer | null): StreamFacts['dolbyVision'] {
  const [profile, compatibility] = [data?.[2], data?.[7]];
  return profile === undefined || compatibility === undefined ? null : { profile, compatibility };
}

/** The filter that cuts these edges off; the ffmpeg program does so by default. */
export function cutting({ top, bottom, left, right }: Crop): string {
  return `crop=iw-${left + right}:ih-${top + bottom}:${left}:${top}`;
}

/** Converts an error of the library to one of ours. */
export function faultOf(av: Av, error: unknown): unknown {
  if (!(error instanceof av.FFmpegError)) return error;
  if (error.code === av.AVERROR_ENOSPC)
    return Object.assign(new Error('the disk is full'), { code: 'ENOSPC', syscall: 'write' });
  if (error.isENOMEM) return new Error('ffmpeg: out of memory');
  if (error.isENOENT) return Object.assign(new Error(error.message), { code: 'ENOENT', syscall: 'open' });
  return new BrokenFile(undecodable(error.message.replace(/^Failed to[^:]*: /, '').slice(0, 200)));
}

/** An open file, with the function that frees it. */
export interface Opened {
  demuxer: Demuxer;
  /** Returns the stream with this index. */
  stream(index: number): Stream;
  turnOf(stream: Stream): ReturnType<typeof turning>;
}

/** Opens a file with the demuxer of its type only, and without access to other files or the network. */
export async function openFile(av: Av, { path, mime }: Source): Promise<Opened> {
  const { name, names } = demuxerOf(mime);
  const options = { protocol_whitelist: 'file', format_whitelist: names };
  const demuxer = await av.Demuxer.open(path, { format: name, options });
  const { streams } = demuxer;
  return {
    demuxer,
    stream(index) {
      const stream = streams.find((candidate) => candidate.index === index);
      if (stream === undefined) throw new BrokenFile(sentence('it has no stream {index}', { index }));
      return stream;
    },
    turnOf: ({ codecpar }) => turning(codecpar.getCodedSideData(av.AV_PKT_DATA_DISPLAYMATRIX)),
  };
}

/** Works with an open file, which is closed afterwards. Converts errors. */
export async function withFile<T>(av: Av, source: Source, work: (opened: Opened) => Promise<T>): Promise<T> {
  let opened: Opened | null = null;
  try {
    opened = await openFile(av, source);
    return await work(opened);
  } catch (error) {
    throw faultOf(av, error);
  } finally {
    await opened?.demuxer.close();
  }
}

/** Yields the packets of a file or of one stream, and frees each afterwards. */
export async function* packetsOf(
  { demuxer }: Opened,
  index?: number,
  isWanted?: (packet: Packet) => boolean,
) {
  for await (const packet of demuxer.packets(index)) {
    if (packet === null) return;
    try {
      if (isWanted?.(packet) !== false) yield packet;
    } finally {
      packet.free();
    }
  }
}

/** Yields every frame of a stream, or of its packets that are wanted. Skips damaged frames, as players do. */
export async function* framesOf(
  opened: Opened,
  decoder: Decoder,
  index: number,
  isWanted?: (packet: Packet) => boolean,
): AsyncGenerator<Frame> {
  async function* released(frames: readonly Frame[]) {
    for (const frame of frames) {
      try {
        yield frame;
      } finally {
        frame.free();
      }
    }
  }
  for await (const packet of packetsOf(opened, index, isWanted))
    yield* released(await decoder.decodeAll(packet));
  yield* released(await decoder.decodeAll(null));
}
