import { availableParallelism, totalmem } from 'node:os';

/** What one kind of decoder may use. */
export interface DecoderLimits {
  /** Processes at once, however many files one owner sends. */
  workers: number;
  /** More processes, for owners who have none of the others. */
  spare: number;
  /**
   * Wall time for one file, in milliseconds, from the moment a process has it; up to four times as long for a process that
   * the machine gave less than half a core.
   */
  timeoutMs: number;
  /** Memory of the process and of every program it starts, in bytes. */
  memoryBytes: number;
  /** Lower priority than that of other decoders, for work that must not slow them down. */
  niceness?: number;
}

const MB = 1024 ** 2;

/** Half of what this machine or container has, at most: a file must not push the database out of memory. */
function atMost(bytes: number): number {
  const constrained = process.constrainedMemory();
  const available = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(bytes, Math.max(256 * MB, Math.floor(available / 2)));
}

/**
 * Every kind of decoder with its limits. Each kind has processes of its own, so that slow files of one kind never delay
 * another kind. A new kind is a line here and a pool in `decoders.ts`.
 */
export const decoderKinds = {
  /** Previews of raster images. */
  picture: { workers: availableParallelism(), spare: 1, timeoutMs: 60_000, memoryBytes: atMost(2048 * MB) },
  /** Previews of SVG: a few lines can keep a core busy for hours. */
  drawing: { workers: 1, spare: 1, timeoutMs: 20_000, memoryBytes: atMost(1024 * MB) },
  /** Previews of documents, texts, fonts and models: many pages of one file, or one that is drawn by a program. */
  document: { workers: 1, spare: 1, timeoutMs: 120_000, memoryBytes: atMost(2048 * MB) },
  /** Posters, scrub previews and waveforms. */
  video: {
    workers: Math.max(1, Math.floor(availableParallelism() / 2)),
    spare: 1,
    timeoutMs: 240_000,
    memoryBytes: atMost(3072 * MB),
  },
  /** Streams of a video, which take hours for a long one; the time is for one that says not how long it is. */
  transcode: { workers: 1, spare: 1, timeoutMs: 3_600_000, memoryBytes: atMost(4096 * MB) },
  /** Tiles of large pictures. They run in the background: a gigapixel takes minutes. */
  tiles: { workers: 1, spare: 1, timeoutMs: 600_000, memoryBytes: atMost(2048 * MB), niceness: 19 },
  /** Images that a request waits for: logos, and the queries of visual search. */
  query: { workers: 1, spare: 1, timeoutMs: 10_000, memoryBytes: atMost(1024 * MB) },
  /** Text drawn into previews of ours, which visitors with a link wait for. */
  watermark: { workers: 2, spare: 1, timeoutMs: 20_000, memoryBytes: atMost(1024 * MB) },
  /** Metadata that ExifTool does not read. */
  metadata: { workers: 2, spare: 1, timeoutMs: 20_000, memoryBytes: atMost(512 * MB) },
} as const satisfies Record<string, DecoderLimits>;

export type DecoderKind = keyof typeof decoderKinds;
