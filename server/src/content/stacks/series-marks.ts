import type { MetadataReader } from '../../media/metadata/reader.ts';

/** Metadata that identifies the photos of one burst or bracket. */
export interface SeriesMarks {
  /** The id of the burst, which phones write into each of its photos. */
  burst: string | null;
  /** Whether the phone has chosen the photo of the burst. */
  isCover: boolean;
  /** An exposure of an automatic bracket. */
  bracket: { camera: string; atMs: number; bias: string } | null;
}

export const noSeries: SeriesMarks = { burst: null, isCover: false, bracket: null };

/** Returns a function that finds the text of a tag by the end of its key. */
function textsIn(raw: Readonly<Record<string, string | string[]>>) {
  const entries = Object.entries(raw);
  return (name: string): string => {
    const [, value] = entries.find(([key]) => key.endsWith(`:${name}`)) ?? [];
    return (Array.isArray(value) ? value[0] : value)?.trim() ?? '';
  };
}

/** Returns the time of an exposure in milliseconds; null if it is unknown. */
function timeOf(text: string, fraction: string): number | null {
  const [, date, time] = /^(\d{4}:\d{2}:\d{2}) (\d{2}:\d{2}:\d{2})/.exec(text) ?? [];
  const seconds = Date.parse(`${date?.replaceAll(':', '-')}T${time}Z`);
  if (Number.isNaN(seconds)) return null;
  return seconds + (/^\d+$/.test(fraction) ? Number(`0.${fraction}`) * 1000 : 0);
}

/** Returns the marks among the tags of a photo: of Apple and Google for bursts, of EXIF for brackets. */
function seriesIn(raw: Readonly<Record<string, string | string[]>>): SeriesMarks {
  const textOf = textsIn(raw);
  const burst = textOf('BurstUUID') || textOf('BurstID') || null;
  const isCover = /^(?:1|true)$/i.test(textOf('BurstPrimary'));
  const atMs = timeOf(textOf('DateTimeOriginal'), textOf('SubSecTimeOriginal'));
  const bias = textOf('ExposureCompensation');
  if (textOf('ExposureMode') !== 'Auto bracket' || atMs === null || bias === '')
    return { burst, isCover, bracket: null };
  const camera = [textOf('Make'), textOf('Model'), textOf('SerialNumber')].join('|');
  return { burst, isCover, bracket: { camera, atMs, bias } };
}

/** Returns how many bytes at the beginning of a file are searched for marks. In a HEIC they can be anywhere. */
export function headBytes(fileName: string): number {
  if (/\.jpe?g$/i.test(fileName)) return 256 * 1024;
  return /\.(?:heic|heif|avif)$/i.test(fileName) ? 16 * 1024 * 1024 : 1024 * 1024;
}

/** Bytes of which a photo with marks has one: entries of EXIF and of Apple's note, in both orders of bytes, and a name in XMP. */
const signs = [
  // ExposureMode: auto bracket.
  Buffer.from('a4020003000000010002', 'hex'),
  Buffer.from('02a40300010000000200', 'hex'),
  // BurstUUID, a text.
  Buffer.from('000b0002000000', 'hex'),
  Buffer.from('BurstID'),
];

/** Returns whether a photo that begins with these bytes may have marks. Few have, and the reader takes much longer. */
export function maySeries(head: Buffer): boolean {
  return signs.some((sign) => head.includes(sign));
}

type Reader = Pick<MetadataReader, 'read'>;

/** Reads the marks of the photo at a path. A file that cannot be read has none. */
export async function readSeries({ read }: Reader, path: string): Promise<SeriesMarks> {
  const tags = await read(path);
  return tags.outcome === 'failed' ? noSeries : seriesIn(tags.raw);
}
