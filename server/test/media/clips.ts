import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Encoder, FilterAPI, FormatContext, Muxer } from 'node-av';
import { locateProgram } from '../../src/media/ffmpeg/program.ts';
import { seeded } from '../corpus/mutations.ts';
import { type Bytes, box, fileOf, uint32 } from './binary.ts';

interface ClipTrack {
  source?: string;
  encoder: string;
  /** Frames per second of a video, as its source has them; 25 by default. */
  rate?: { num: number; den: number };
  /** The pixel format of a video. */
  pixels?: string;
  /** Further filters. */
  filter?: string;
  options?: Record<string, string>;
  /** Whether players choose this track. */
  isDefault?: boolean;
  seconds?: number;
}

/** The properties of a clip. Sources are FFmpeg's `lavfi` filters. */
export interface Clip {
  /** FFmpeg's name of the container. */
  format: string;
  video?: ClipTrack;
  audio?: ClipTrack;
  /** Tracks in this order, instead of `video` and `audio`. */
  tracks?: readonly ClipTrack[];
  seconds?: number;
  muxing?: Record<string, string>;
}

interface Track {
  source: string;
  filter: FilterAPI;
  encoder: Encoder;
  position: number;
  seconds: number;
}

const sound = 'sine=f=440:r=48000';
const picture = 'testsrc2=s=320x180:r=25';

const made = new Map<string, Promise<Bytes>>();

/** A short clip, by default of 320 x 180 pixels. Encoded once for all test files of a worker. */
export async function clip(of: Clip): Promise<Bytes> {
  const key = JSON.stringify(of);
  const bytes = made.get(key) ?? encodeClip(of);
  made.set(key, bytes);
  return Uint8Array.from(await bytes);
}

async function encodeClip({ format, video, audio, tracks, seconds = 2, muxing = {} }: Clip): Promise<Bytes> {
  const wanted = tracks ?? [video, audio].filter((track) => track !== undefined);
  const isChosen = wanted.some(({ isDefault }) => isDefault !== undefined);
  const av = await import('node-av');
  av.Log.setLevel(av.AV_LOG_QUIET);
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-clip-'));
  const path = join(directory, 'clip');
  try {
    const configure = ({ streams }: FormatContext) => {
      for (const [index, { isDefault }] of wanted.entries()) {
        const stream = streams[index];
        stream?.clearDisposition(av.AV_DISPOSITION_DEFAULT);
        if (isDefault === true) stream?.setDisposition(av.AV_DISPOSITION_DEFAULT);
      }
    };
    const options = {
      ...(isChosen && format === 'matroska' ? { default_mode: 'passthrough' } : {}),
      ...muxing,
    };
    const muxer = await av.Muxer.open(path, { format, options, ...(isChosen ? { configure } : {}) });
    const opened: Track[] = [];
    for (const track of wanted) {
      const { encoder: name, options = {}, pixels = 'yuv420p', rate = { num: 25, den: 1 } } = track;
      const codec = av.Codec.findEncoderByName(name as Parameters<typeof av.Codec.findEncoderByName>[0]);
      if (codec === null) throw new Error(`no encoder ${name}`);
      const isVideo = codec.type === av.AVMEDIA_TYPE_VIDEO;
      const source = track.source ?? (isVideo ? picture : sound);
      const description = [
        ...(track.filter === undefined ? [] : [track.filter]),
        isVideo ? `format=${pixels}` : 'aresample',
      ];
      const filter = av.FilterAPI.create(description.join(','), isVideo ? { framerate: rate } : {});
      const encoder = await av.Encoder.create(codec, { filter, options, autoResample: true });
      opened.push({
        source,
        filter,
        encoder,
        position: muxer.addStream(encoder),
        seconds: track.seconds ?? seconds,
      });
    }
    for (const track of opened) await encode(av, muxer, track, track.seconds);
    await muxer.close();
    for (const { filter, encoder } of opened) {
      filter.close();
      encoder.close();
    }
    return Uint8Array.from(await readFile(path));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function encode(
  av: typeof import('node-av'),
  muxer: Muxer,
  { source, filter, encoder, position }: Track,
  seconds: number,
): Promise<void> {
  const demuxer = await av.Demuxer.open(source, { format: 'lavfi' });
  const stream = demuxer.streams[0];
  if (stream === undefined) throw new Error(`nothing comes of ${source}`);
  const decoder = await av.Decoder.create(stream);
  const write = async (frame: Parameters<Encoder['encodeAll']>[0]) => {
    for (const packet of await encoder.encodeAll(frame)) await muxer.writePacket(packet, position);
  };
  for await (const packet of demuxer.packets()) {
    const end = stream.timeBase.num / stream.timeBase.den;
    if (packet === null || Number(packet.pts) * end >= seconds) break;
    for (const frame of await decoder.decodeAll(packet))
      for (const ready of await filter.processAll(frame)) await write(ready);
  }
  for (const ready of await filter.processAll(null)) await write(ready);
  await write(null);
  decoder.close();
  await demuxer.close();
}

/** The clip with its first track rotated clockwise by 90° through metadata, like those of phones. */
export function turned(mp4: Bytes): Bytes {
  const bytes = Buffer.from(mp4);
  const matrix = [0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000];
  const at = bytes.indexOf('tkhd') + 4 + 40;
  for (const [index, value] of matrix.entries()) bytes.writeInt32BE(value, at + index * 4);
  return Uint8Array.from(bytes);
}

/** The MP4 with a clean aperture of this size in the middle of its only picture. */
export function apertured(mp4: Bytes, { width, height }: { width: number; height: number }): Bytes {
  return described(mp4, 'avc1', box('clap', ...[width, 1, height, 1, 0, 1, 0, 1].map((one) => uint32(one))));
}

/** The MP4 of HEVC described as Dolby Vision's profile 5 of level 1, without a compatible base layer. */
export function dolbyVision(mp4: Bytes): Bytes {
  const configuration = Buffer.alloc(24);
  configuration.writeUInt8(1);
  configuration.writeUInt16BE((5 << 9) | (1 << 3) | 0b101, 2);
  return described(mp4, 'hev1', box('dvcC', configuration));
}

/** The MP4 with a further box in the description of its only picture. */
function described(mp4: Bytes, codec: string, further: Buffer): Bytes {
  const bytes = Buffer.from(mp4);
  const entry = bytes.indexOf(codec, bytes.indexOf('stsd')) - 4;
  const end = entry + bytes.readUInt32BE(entry);
  for (const name of ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd', codec]) {
    const at = bytes.lastIndexOf(name, entry + 4) - 4;
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + further.length, at);
  }
  return fileOf(bytes.subarray(0, end), further, bytes.subarray(end));
}

/** The MP4 with this number in a box that players skip: a different file with the same content, without encoding. */
export function numbered(mp4: Bytes, number: number): Bytes {
  return fileOf(mp4, box('free', uint32(number)));
}

/** Changes some bytes at random, the same for the same seed; keeps the first ones, so that the type remains. */
export function mutated(bytes: Bytes, seed: number): Bytes {
  const random = seeded(seed);
  const copy = Uint8Array.from(bytes);
  for (let left = 1 + random(40); left > 0; left -= 1) copy[64 + random(copy.length - 64)] = random(256);
  return random(4) === 0 ? copy.slice(0, 64 + random(copy.length - 64)) : copy;
}

/** Both FFmpeg programs: their VITRINE_FFMPEG, and whether this machine has them. */
export const everyFfmpeg = [
  { name: "the system's ffmpeg", setting: null, isHere: locateProgram(undefined) !== null },
  { name: "the npm package's FFmpeg", setting: 'off', isHere: true },
] as const;
