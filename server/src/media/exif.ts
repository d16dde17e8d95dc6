import { readHead } from './head.ts';

/** What a picture tells of itself; only keys it has. */
export interface ExifSummary {
  /** ISO 8601; without an offset when the camera did not tell its zone. */
  takenAt?: string;
  cameraMake?: string;
  cameraModel?: string;
  lens?: string;
  exposureTime?: string;
  aperture?: number;
  iso?: number;
  focalLength?: number;
  /** Degrees, north and east positive. */
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

/** Metadata mostly stands near the beginning; more of a file is never read for it. */
const HEAD_BYTES = 512 * 1024;

const MAX_TEXT = 2000;

/** Trimmed, without NUL (PostgreSQL stores none), at most 2,000 characters; undefined when nothing is left. */
function text(value: unknown): string | undefined {
  const raw = Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined;
  // Cut before it is made well-formed: half a surrogate pair is no more storable than NUL.
  const clean = raw?.replaceAll('\0', '').trim().slice(0, MAX_TEXT).toWellFormed();
  return clean === undefined || clean === '' ? undefined : clean;
}

function number(value: unknown): number | undefined {
  const pair = Array.isArray(value) && value.length === 2 ? Number(value[0]) / Number(value[1]) : value;
  return typeof pair === 'number' && Number.isFinite(pair) ? pair : undefined;
}

/** A number from `least` to `most`, which is what the rest of the world takes it for. */
function numberWithin(least: number, most: number, value: unknown): number | undefined {
  const found = number(value);
  return found !== undefined && found >= least && found <= most ? found : undefined;
}

/** `2024:05:06 07:08:09`, and its offset `+02:00` where the camera knew one, as ISO 8601. */
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
 * The basic EXIF, IPTC and XMP of a picture; an empty object when there is none or it cannot be read. Rejects only for
 * faults of the disk.
 */
export async function readExif(path: string): Promise<ExifSummary> {
  const { head } = await readHead(path, HEAD_BYTES);
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
