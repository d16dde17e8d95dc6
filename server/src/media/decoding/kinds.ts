import { availableParallelism, totalmem } from 'node:os';

/** The uid and gid of decoders when this process is root, beside that of PostgreSQL (DATABASE_UID). */
export const DECODER_UID = 65_522;

/** The limits of one kind of decoder. */
export interface DecoderLimits {
  /** Maximum number of concurrent processes, regardless of how many files one owner sends. */
  workers: number;
  /** Additional processes for owners who hold none of the others. */
  spare: number;
  /**
   * Wall time for one file, in milliseconds, from the moment a process receives it. Up to four times as long if the
   * machine gave the process less than half a core.
   */
  timeoutMs: number;
  /** Memory of the process and of all programs it starts, in bytes. */
  memoryBytes: number;
  /** Scheduling priority, if lower than that of other decoders, for work that must not slow them down. */
  niceness?: number;
}

const MB = 1024 ** 2;

/** At most half of the memory of this machine or container, so that a file cannot push the database out of memory. */
function atMost(bytes: number): number {
  const constrained = process.constrainedMemory();
  const available = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(bytes, Math.max(256 * MB, Math.floor(available / 2)));
}

/**
 * Every kind of decoder with its limits. Each kind has its own processes, so that slow files of one kind never delay
 * another kind. To add a kind, add a line here and a pool in `decoders.ts`.
 */
export const decoderKinds = {
  /** Previews of raster images. */
  picture: { workers: availableParallelism(), spare: 1, timeoutMs: 60_000, memoryBytes: atMost(2048 * MB) },
  /** Previews of SVG, of which a few lines can keep a core busy for hours. */
  drawing: { workers: 1, spare: 1, timeoutMs: 20_000, memoryBytes: atMost(1024 * MB) },
  /**
   * Previews of documents, texts, fonts and models: many pages of one file, or a file drawn by an external program.
   */
  document: { workers: 1, spare: 1, timeoutMs: 120_000, memoryBytes: atMost(2048 * MB) },
  /** Posters, scrub previews and waveforms. */
  video: {
    workers: Math.max(1, Math.floor(availableParallelism() / 2)),
    spare: 1,
    timeoutMs: 240_000,
    memoryBytes: atMost(3072 * MB),
  },
  /**
   * Streams of a video. A long one takes hours, in which pages must not get slower; the default time limit is for a video of
   * unknown duration.
   */
  transcode: { workers: 1, spare: 1, timeoutMs: 3_600_000, memoryBytes: atMost(4096 * MB), niceness: 19 },
  /** Tiles of large pictures. They are made in the background, because a gigapixel takes minutes. */
  tiles: { workers: 1, spare: 1, timeoutMs: 600_000, memoryBytes: atMost(2048 * MB), niceness: 19 },
  /** Images that an HTTP request waits for: logos and queries of visual search. */
  query: { workers: 1, spare: 1, timeoutMs: 10_000, memoryBytes: atMost(1024 * MB) },
  /** Watermarks on previews, which visitors with a link wait for. */
  watermark: { workers: 2, spare: 1, timeoutMs: 20_000, memoryBytes: atMost(1024 * MB) },
  /** Pictures and frames with drawings on them, which people wait for. */
  flatten: { workers: 1, spare: 1, timeoutMs: 30_000, memoryBytes: atMost(2048 * MB) },
  /** Contact sheets of annotations, which people wait for. */
  sheet: { workers: 1, spare: 1, timeoutMs: 120_000, memoryBytes: atMost(1024 * MB) },
  /** Copies of pictures in another form, which people wait for. */
  convert: { workers: availableParallelism(), spare: 1, timeoutMs: 120_000, memoryBytes: atMost(2048 * MB) },
  /** Metadata that ExifTool does not read. */
  metadata: { workers: 2, spare: 1, timeoutMs: 20_000, memoryBytes: atMost(512 * MB) },
} as const satisfies Record<string, DecoderLimits>;

export type DecoderKind = keyof typeof decoderKinds;
