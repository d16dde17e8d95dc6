import { open } from 'node:fs/promises';

/** What a picture tells of itself; only keys it has. */
export interface ExifSummary {
  takenAt?: string;
  cameraMake?: string;
  cameraModel?: string;
  lens?: string;
  exposureTime?: string;
  aperture?: number;
  iso?: number;
  focalLength?: number;
  latitude?: number;
  longitude?: number;
  title?: string;
  description?: string;
  creator?: string;
  copyright?: string;
  keywords?: string[];
}

/** Metadata stands near the beginning; more of a file is never read for it. */
const HEAD_BYTES = 512 * 1024;

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Trimmed, without NUL (PostgreSQL stores none), at most 2,000 characters; undefined when nothing is left. */
function text(value: unknown): string | undefined {
  const raw = Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined;
  const clean = raw?.replaceAll('\0', '').toWellFormed().trim().slice(0, 2000);
  return clean === undefined || clean === '' ? undefined : clean;
}

function number(value: unknown): number | undefined {
  const pair = Array.isArray(value) && value.length === 2 ? Number(value[0]) / Number(value[1]) : value;
  return typeof pair === 'number' && Number.isFinite(pair) ? pair : undefined;
}

/** `2024:05:06 07:08:09` (EXIF has no zone) as ISO 8601. */
function time(value: unknown): string | undefined {
  const found = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(text(value) ?? '');
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second] = found;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  return Number.isNaN(Date.parse(`${iso}Z`)) ? undefined : iso;
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
    takenAt: time(described(exif, 'DateTimeOriginal')) ?? time(described(exif, 'DateTime')),
    cameraMake: described(exif, 'Make'),
    cameraModel: described(exif, 'Model'),
    lens: described(exif, 'LensModel'),
    exposureTime: described(exif, 'ExposureTime'),
    aperture: number(tagOf(exif, 'FNumber').value),
    iso: number(tagOf(exif, 'ISOSpeedRatings').value),
    focalLength: number(tagOf(exif, 'FocalLength').value),
    latitude: number(gps.Latitude),
    longitude: number(gps.Longitude),
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

/** The basic EXIF, IPTC and XMP of a picture; an empty object when there is none or it cannot be read. */
export async function readExif(path: string): Promise<ExifSummary> {
  const head = await readHead(path);
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
