import { withSource } from './source.ts';

/** The metadata of a picture. Keys without a value are absent. */
export interface ExifSummary {
  /** ISO 8601; without an offset if the camera did not record one. */
  takenAt?: string;
  cameraMake?: string;
  cameraModel?: string;
  lens?: string;
  exposureTime?: string;
  aperture?: number;
  iso?: number;
  focalLength?: number;
  /** Degrees; north and east are positive. */
  latitude?: number;
  longitude?: number;
  /** EXIF orientation, 1 to 8. */
  orientation?: number;
  title?: string;
  description?: string;
  creator?: string;
  copyright?: string;
  keywords?: string[];
}

/** Reads no more than this, because metadata is near the start of most files. */
const HEAD_BYTES = 512 * 1024;

const MAX_TEXT = 2000;

/**
 * Trims a text, removes NUL, which PostgreSQL cannot store, and cuts it at 2,000 characters. Returns undefined if it
 * is empty.
 */
function text(value: unknown): string | undefined {
  const raw = Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined;
  // Cuts before toWellFormed(), because PostgreSQL cannot store half a surrogate pair either.
  const clean = raw?.replaceAll('\0', '').trim().slice(0, MAX_TEXT).toWellFormed();
  return clean === undefined || clean === '' ? undefined : clean;
}

function number(value: unknown): number | undefined {
  const pair = Array.isArray(value) && value.length === 2 ? Number(value[0]) / Number(value[1]) : value;
  return typeof pair === 'number' && Number.isFinite(pair) ? pair : undefined;
}

/** Returns a number if it is between `least` and `most`, otherwise undefined. */
function numberWithin(least: number, most: number, value: unknown): number | undefined {
  const found = number(value);
  return found !== undefined && found >= least && found <= most ? found : undefined;
}

/** Converts `2024:05:06 07:08:09`, and the offset `+02:00` if the camera recorded one, to ISO 8601. */
function time(value: unknown, offset: unknown): string | undefined {
  const found = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(text(value) ?? '');
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second] = found;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const zone = /^(?:Z|[+-]\d\d:\d\d)$/.exec(text(offset) ?? '')?.[0] ?? '';
  return Number.isNaN(Date.parse(`${iso}${zone || 'Z'}`)) ? undefined : `${iso}${zone}`;
}

interface Tag {
  value?: unknown;
  description?: unknown;
}

type Groups = Record<'exif' | 'iptc' | 'xmp' | 'gps', Record<string, unknown>>;

function tagOf(group: Record<string, unknown>, name: string): Tag {
  const tag = group[name];
  return typeof tag === 'object' && tag !== null ? tag : {};
}

function words(groups: Groups): string[] | undefined {
  const listed = groups.iptc.Keywords ?? tagOf(groups.xmp, 'subject').value;
  const tags: unknown[] = Array.isArray(listed) ? listed : listed === undefined ? [] : [listed];
  const found = tags.flatMap((tag) => {
    const held: Tag = typeof tag === 'object' && tag !== null ? tag : {};
    return text(held.description) ?? [];
  });
  return found.length === 0 ? undefined : [...new Set(found)].slice(0, 200);
}

function summarise(groups: Groups): ExifSummary {
  const { exif, iptc, xmp, gps } = groups;
  const described = (group: Record<string, unknown>, name: string) => text(tagOf(group, name).description);
  const all: { [K in keyof ExifSummary]: ExifSummary[K] | undefined } = {
    takenAt:
      time(described(exif, 'DateTimeOriginal'), described(exif, 'OffsetTimeOriginal')) ??
      time(described(exif, 'DateTime'), described(exif, 'OffsetTime')),
    cameraMake: described(exif, 'Make'),
    cameraModel: described(exif, 'Model'),
    lens: described(exif, 'LensModel'),
    exposureTime: described(exif, 'ExposureTime'),
    aperture: number(tagOf(exif, 'FNumber').value),
    iso: number(tagOf(exif, 'ISOSpeedRatings').value),
    focalLength: number(tagOf(exif, 'FocalLength').value),
    latitude: numberWithin(-90, 90, gps.Latitude),
    longitude: numberWithin(-180, 180, gps.Longitude),
    orientation: numberWithin(1, 8, tagOf(exif, 'Orientation').value),
    title: described(xmp, 'title') ?? described(iptc, 'Object Name'),
    description:
      described(xmp, 'description') ??
      described(iptc, 'Caption/Abstract') ??
      described(exif, 'ImageDescription'),
    creator: described(xmp, 'creator') ?? described(iptc, 'By-line') ?? described(exif, 'Artist'),
    copyright:
      described(xmp, 'rights') ?? described(iptc, 'Copyright Notice') ?? described(exif, 'Copyright'),
    keywords: words(groups),
  };
  const found: ExifSummary = {};
  return Object.assign(
    found,
    Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
  );
}

/**
 * Returns the basic EXIF, IPTC and XMP metadata of a picture, or an empty object if there is none or it cannot be
 * read. Rejects only on disk errors.
 */
export async function readExif(path: string): Promise<ExifSummary> {
  const head = await withSource(path, ({ readUpTo }) => readUpTo(0, HEAD_BYTES));
  const { default: ExifReader } = await import('exifreader');
  try {
    const loaded = ExifReader.load(head, { expanded: true });
    return summarise({
      exif: { ...loaded.exif },
      iptc: { ...loaded.iptc },
      xmp: { ...loaded.xmp },
      gps: { ...loaded.gps },
    });
  } catch {
    return {};
  }
}
