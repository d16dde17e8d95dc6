import { readHead } from '../head.ts';
import { sniff } from '../sniff.ts';
import { fontNames } from './font-names.ts';

/** Size limit of pictures, which are read into memory here. */
const HEAD_BYTES = 32 * 1024 * 1024;

export type Entry = [key: string, value: unknown];

interface Tag {
  value?: unknown;
  description?: unknown;
}

function tagOf(group: Record<string, unknown>, name: string): Tag {
  const tag = group[name];
  return typeof tag === 'object' && tag !== null ? tag : {};
}

function described(tag: Tag): unknown {
  return tag.description ?? tag.value;
}

/** Converts a rational number, which is a pair. */
function rational({ value }: Tag): unknown {
  return Array.isArray(value) && value.length === 2 ? Number(value[0]) / Number(value[1]) : value;
}

/** Returns every text of a tag that may occur more than once. */
function listed(tag: unknown): unknown {
  const all: unknown[] = Array.isArray(tag) ? tag : [tag];
  return all.flatMap((entry): unknown[] => {
    const held: Tag = typeof entry === 'object' && entry !== null ? entry : {};
    return Array.isArray(held.value) && typeof held.value[0] === 'object'
      ? held.value.map((inner: Tag) => inner.description ?? inner.value)
      : [described(held)];
  });
}

/** Tag names of ExifReader and the corresponding names in the mapping. */
const exifNames = new Map([
  ['Make', 'Make'],
  ['Model', 'Model'],
  ['LensModel', 'LensModel'],
  ['DateTimeOriginal', 'DateTimeOriginal'],
  ['OffsetTimeOriginal', 'OffsetTimeOriginal'],
  ['DateTimeDigitized', 'CreateDate'],
  ['OffsetTimeDigitized', 'OffsetTimeDigitized'],
  ['DateTime', 'ModifyDate'],
  ['OffsetTime', 'OffsetTime'],
  ['ImageDescription', 'ImageDescription'],
  ['Artist', 'Artist'],
  ['Copyright', 'Copyright'],
  ['ExposureTime', 'ExposureTime'],
  ['ISOSpeedRatings', 'ISO'],
  ['ColorSpace', 'ColorSpace'],
]);

const iptcNames = new Map([
  ['Object Name', 'ObjectName'],
  ['Caption/Abstract', 'Caption-Abstract'],
  ['By-line', 'By-line'],
  ['Copyright Notice', 'CopyrightNotice'],
  ['Credit', 'Credit'],
  ['Keywords', 'Keywords'],
  ['City', 'City'],
  ['Country/Primary Location Name', 'Country-PrimaryLocationName'],
  ['Date Created', 'DateCreated'],
  ['Time Created', 'TimeCreated'],
]);

const xmpNames = new Map([
  ['title', 'XMP-dc:Title'],
  ['description', 'XMP-dc:Description'],
  ['creator', 'XMP-dc:Creator'],
  ['rights', 'XMP-dc:Rights'],
  ['subject', 'XMP-dc:Subject'],
  ['Credit', 'XMP-photoshop:Credit'],
  ['City', 'XMP-photoshop:City'],
  ['Country', 'XMP-photoshop:Country'],
  ['DateCreated', 'XMP-photoshop:DateCreated'],
  ['DateTimeOriginal', 'XMP-exif:DateTimeOriginal'],
  ['CreateDate', 'XMP-xmp:CreateDate'],
  ['Rating', 'XMP-xmp:Rating'],
  ['Lens', 'XMP-aux:Lens'],
  ['LensModel', 'XMP-exifEX:LensModel'],
]);

/** Tags that may occur more than once, each with one text of a list. */
const lists = new Set(['Keywords', 'By-line', 'XMP-dc:Subject', 'XMP-dc:Creator']);

function picked(
  group: Record<string, unknown>,
  namesOf: ReadonlyMap<string, string>,
  prefix: string,
): Entry[] {
  return [...namesOf].flatMap(([theirs, ours]): Entry[] => {
    if (group[theirs] === undefined) return [];
    const value = lists.has(ours) ? listed(group[theirs]) : described(tagOf(group, theirs));
    return [[`${prefix}${ours}`, value]];
  });
}

async function ofPicture(path: string): Promise<Entry[]> {
  const { head } = await readHead(path, HEAD_BYTES);
  const { default: ExifReader } = await import('exifreader');
  const { exif, iptc, xmp, gps, icc, pngText } = await ExifReader.load(head, {
    expanded: true,
    // Also reads compressed texts of a PNG.
    async: true,
  });
  const own = { ...exif };
  const profile = tagOf({ ...icc }, 'ICC Description');
  const texts = { ...pngText };
  return [
    ...picked({ ...xmp }, xmpNames, ''),
    ...picked({ ...iptc }, iptcNames, 'IPTC:'),
    ...picked(own, exifNames, 'EXIF:'),
    ['EXIF:FNumber', rational(tagOf(own, 'FNumber'))],
    ['EXIF:FocalLength', rational(tagOf(own, 'FocalLength'))],
    ['EXIF:GPSLatitude', gps?.Latitude],
    ['EXIF:GPSLongitude', gps?.Longitude],
    ['ICC_Profile:ProfileDescription', described(profile)],
    ...Object.keys(texts).map((name): Entry => [`PNG:${name}`, described(tagOf(texts, name))]),
  ];
}

async function ofSoundOrFilm(path: string): Promise<Entry[]> {
  const { parseFile } = await import('music-metadata');
  const { common, format } = await parseFile(path, { skipCovers: true });
  const film = format.trackInfo.find(({ video }) => video !== undefined);
  return [
    ['Media:Title', common.title],
    ['Media:Artist', common.artists ?? common.artist],
    ['Media:Copyright', common.copyright],
    ['Media:Comment', common.comment?.map(({ text }) => text).find((text) => text !== undefined)],
    ['Vorbis:Date', common.date],
    ['Media:Duration', format.duration],
    ['Media:Codec', film?.codecName ?? format.codec],
  ];
}

/** Messages of the libraries for files without metadata, which are not errors. */
const nothingToRead =
  /no exif data|invalid image format|guessed mime-type not supported|could not determine|no metadata/i;

/**
 * Returns the metadata of pictures, fonts, audio and video without ExifTool, and nothing for other files. Throws for
 * a broken file.
 */
export async function readEntries(path: string): Promise<Entry[]> {
  const { kind } = await sniff(path);
  try {
    if (kind === 'image') return await ofPicture(path);
    return kind === 'audio' || kind === 'video' ? await ofSoundOrFilm(path) : await fontNames(path);
  } catch (error) {
    if (error instanceof Error && nothingToRead.test(error.message)) return [];
    throw error;
  }
}
