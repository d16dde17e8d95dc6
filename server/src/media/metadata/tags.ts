import { legible } from './legible.ts';
import type { Origin } from './source.ts';

/** Maximum length of a stored text, in characters. */
const MAX_TEXT = 10_000;
/** Maximum number of list entries. */
export const MAX_LIST = 500;
/** Maximum size of the stored raw tags as JSON, in bytes. */
const MAX_RAW_BYTES = 256 * 1024;
/** Maximum length of one raw value, in characters. */
const MAX_RAW_TEXT = 2000;

/** The tags of a file, by group and name such as `XMP-dc:Title`. */
export type Tags = ReadonlyMap<string, readonly string[]>;

/** Trims a text, removes characters that PostgreSQL cannot store, and cuts it to the maximum length. */
function clean(text: string, most = MAX_TEXT): string {
  const stored = text.replaceAll('\0', '').trim();
  return stored.length <= most ? stored.toWellFormed() : stored.slice(0, most).toWellFormed().trimEnd();
}

/** Returns a value or the entries of a list as texts. Drops values that are neither text, number nor boolean. */
function texts(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value.slice(0, MAX_LIST) : [value];
  return all.flatMap((entry) => {
    if (typeof entry === 'number' || typeof entry === 'boolean') return [String(entry)];
    const text = typeof entry === 'string' ? clean(legible(entry)) : '';
    return text === '' ? [] : [text];
  });
}

/** Matches a tag in one language, with its script, region and variants: `Title-fr`, `Title-zh-Hant-TW`, `Title-es-419`. */
const inLanguage =
  /^(.+?)-([a-z]{2,3})(?:-[a-z]{3})?(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|\d{3}))?(?:-(?:[A-Za-z\d]{5,8}|\d[A-Za-z\d]{3}))*$/;

/**
 * Indexes tags such as `EXIF:IFD0:Make` or `IPTC:City` under both their family and their own group. The first of
 * several tags with the same name wins. If a text exists only in specific languages, English wins, otherwise the
 * first language.
 */
export function indexTags(read: Iterable<readonly [string, unknown]>): Tags {
  const tags = new Map<string, readonly string[]>();
  const put = (key: string, values: readonly string[]) => {
    if (!tags.has(key)) tags.set(key, values);
  };
  const translated: { key: string; language: string; values: readonly string[] }[] = [];
  for (const [key, value] of read) {
    const values = texts(value);
    if (values.length === 0) continue;
    const parts = key.split(':');
    const name = parts.at(-1) ?? key;
    const [, base, language] = inLanguage.exec(name) ?? [];
    for (const group of parts.slice(0, -1)) {
      put(`${group}:${name}`, values);
      if (base !== undefined && language !== undefined)
        translated.push({ key: `${group}:${base}`, language, values });
    }
  }
  const isEnglish = ({ language }: { language: string }) => language === 'en' || language === 'eng';
  for (const { key, values } of translated.filter(isEnglish)) put(key, values);
  for (const { key, values } of translated) put(key, values);
  return tags;
}

/** Returns the standard that a tag belongs to. */
export function originOf(tag: string): Origin {
  const group = tag.slice(0, tag.indexOf(':'));
  // ExifTool derives Composite tags from camera tags, except the duration and codec of audio and video.
  if (group === 'Composite') return /Duration|Codec/.test(tag) ? 'file' : 'exif';
  if (group.startsWith('XMP')) return 'xmp';
  if (group === 'IPTC') return 'iptc';
  return group === 'EXIF' || group === 'MakerNotes' ? 'exif' : 'file';
}

/** Returns the raw tags to store: every value shortened, and as many as fit. */
export function boundedRaw(read: Iterable<readonly [string, unknown]>): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  let bytes = 2;
  for (const [key, value] of read) {
    const values = texts(value).map((text) => clean(text, MAX_RAW_TEXT));
    if (values.length === 0) continue;
    const entry = Array.isArray(value) ? values : (values[0] ?? '');
    // Counts the colon and the comma around the entry.
    bytes += Buffer.byteLength(JSON.stringify(entry)) + Buffer.byteLength(JSON.stringify(clean(key))) + 2;
    if (bytes > MAX_RAW_BYTES) break;
    kept[clean(key)] = entry;
  }
  return kept;
}
