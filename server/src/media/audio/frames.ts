import { type FileHandle, open } from 'node:fs/promises';

/** Number of bytes before the first frame that are searched: padding and remains of other programs. */
const MOST_BEFORE = 128 * 1024;
/** Number of frames in a row that distinguish sound from bytes that look like a frame by accident. */
const FRAMES = 4;
/** More than the longest frame of either format. */
const FRAME_BYTES = 8192;

/** Kilobits per second by layer, for version 1 and for versions 2 and 2.5. */
const bitRates = {
  first: {
    1: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    2: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    3: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  },
  later: {
    1: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    2: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    3: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  },
} as const;

/** Hertz by index in ADTS. */
const sampleRates: readonly number[] = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000],
  ...[22_050, 16_000, 12_000, 11_025, 8000, 7350],
];

interface Frame {
  kind: 'mpeg' | 'adts';
  /** What does not change from frame to frame. */
  shape: string;
  length: number;
  seconds: number;
}

function mpegFrame(bytes: Buffer, at: number): Frame | null {
  const [, b1 = 0, b2 = 0] = bytes.subarray(at, at + 3);
  const version = (b1 >> 3) & 3;
  const layer = 4 - ((b1 >> 1) & 3);
  const rate = (b2 >> 2) & 3;
  if (version === 1 || (layer !== 1 && layer !== 2 && layer !== 3) || rate === 3) return null;
  const kilobits = bitRates[version === 3 ? 'first' : 'later'][layer][(b2 >> 4) - 1];
  if (kilobits === undefined) return null;
  const divisor = version === 3 ? 1 : version === 2 ? 2 : 4;
  const hertz = ([44_100, 48_000, 32_000][rate] ?? 44_100) / divisor;
  const padding = (b2 >> 1) & 1;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1152;
  const slot = layer === 1 ? 4 : 1;
  const length = (Math.floor((samples / 8 / slot) * ((kilobits * 1000) / hertz)) + padding) * slot;
  return { kind: 'mpeg', shape: `${version} ${layer} ${rate}`, length, seconds: samples / hertz };
}

function adtsFrame(bytes: Buffer, at: number): Frame | null {
  const [, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0] = bytes.subarray(at, at + 6);
  const length = ((b3 & 3) << 11) | (b4 << 3) | (b5 >> 5);
  const [, , , , , , b6 = 0] = bytes.subarray(at, at + 7);
  const hertz = sampleRates[(b2 >> 2) & 15];
  if (length < 7 || hertz === undefined) return null;
  const seconds = (1024 * ((b6 & 3) + 1)) / hertz;
  return { kind: 'adts', shape: `${b1 & 8} ${b2 >> 2}`, length, seconds };
}

function frameAt(bytes: Buffer, at: number): Frame | null {
  const [b0 = 0, b1 = 0] = bytes.subarray(at, at + 2);
  if (b0 !== 0xff || (b1 & 0xe0) !== 0xe0) return null;
  // ADTS has the layer 0, which MPEG audio does not use.
  return (b1 & 0xf6) === 0xf0 ? adtsFrame(bytes, at) : mpegFrame(bytes, at);
}

/** Returns whether frames of the same shape follow each other from here, up to the end of a short file. */
function isRun(bytes: Buffer, start: number, first: Frame): boolean {
  let at = start + first.length;
  for (let count = 1; count < FRAMES; count += 1) {
    const frame = frameAt(bytes, at);
    if (frame === null || frame.kind !== first.kind || frame.shape !== first.shape) return false;
    at += frame.length;
  }
  return true;
}

/** Returns the length of an ID3 tag at the beginning of these bytes; 0 if there is none. */
function tagLength(bytes: Buffer): number {
  if (bytes.toString('latin1', 0, 3) !== 'ID3' || bytes.length < 10) return 0;
  const size = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
  return 10 + size + ((bytes[5] ?? 0) & 16 ? 10 : 0);
}

/** Returns the first frame of a run in these bytes. */
function firstFrame(bytes: Buffer): { at: number; frame: Frame } | null {
  for (let at = bytes.indexOf(0xff); at >= 0 && at < MOST_BEFORE; at = bytes.indexOf(0xff, at + 1)) {
    const frame = frameAt(bytes, at);
    if (frame !== null && isRun(bytes, at, frame)) return { at, frame };
  }
  return null;
}

/** An open sound, its first bytes after an ID3 tag, and their place in the file. */
interface Opened {
  file: FileHandle;
  bytes: Buffer;
  offset: number;
}

async function withSound<T>(path: string, work: (opened: Opened) => T | Promise<T>): Promise<T> {
  const file = await open(path, 'r');
  try {
    const start = await file.read(Buffer.alloc(10), 0, 10, 0);
    const offset = tagLength(start.buffer.subarray(0, start.bytesRead));
    const size = MOST_BEFORE + FRAMES * FRAME_BYTES;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, offset);
    return await work({ file, bytes: buffer.subarray(0, bytesRead), offset });
  } finally {
    await file.close();
  }
}

/**
 * Returns the media type of a sound whose frames begin after padding or other bytes; null if there are no frames.
 * An ID3 tag may precede them.
 */
export function soundType(path: string): Promise<'audio/mpeg' | 'audio/aac' | null> {
  return withSound(path, ({ bytes }) => {
    const kind = firstFrame(bytes)?.frame.kind;
    if (kind === undefined) return null;
    return kind === 'adts' ? 'audio/aac' : 'audio/mpeg';
  });
}

/** Number of bytes that are read at once. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * Returns the duration of MPEG audio or ADTS in seconds, from its frames: such files have no header, or one that does not
 * hold after they were cut. Returns null for other files.
 */
export function secondsOfFrames(path: string): Promise<number | null> {
  return withSound(path, async ({ file, bytes, offset }) => {
    const first = firstFrame(bytes);
    if (first === null) return null;
    const chunk = Buffer.alloc(CHUNK_BYTES + 16);
    let base = offset + first.at;
    let seconds = 0;
    // The first frame of many files is a header without sound.
    let isHeader = /Xing|Info|VBRI/.test(bytes.toString('latin1', first.at, first.at + first.frame.length));
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, base);
      const end = bytesRead < chunk.length ? bytesRead : CHUNK_BYTES;
      const read = chunk.subarray(0, bytesRead);
      let at = 0;
      while (at < end) {
        const frame = frameAt(read, at);
        const isSound = frame !== null && frame.kind === first.frame.kind && frame.length > 0;
        // A frame that is cut off at the end of the file is not played.
        const isWhole = isSound && (at + frame.length <= bytesRead || end < bytesRead);
        if (isWhole && !isHeader) seconds += frame.seconds;
        if (isSound) isHeader = false;
        if (isSound) at += frame.length;
        else {
          const next = read.indexOf(0xff, at + 1);
          at = next < 0 || next > end ? end : next;
        }
      }
      if (bytesRead < chunk.length) return seconds;
      base += at;
    }
  });
}
