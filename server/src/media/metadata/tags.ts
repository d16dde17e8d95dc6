import type { Origin } from './source.ts';

/** Most of a text that is kept of a file. */
export const MAX_TEXT = 10_000;
/** Most entries of a list. */
export const MAX_LIST = 500;
/** Most of what was read that is kept as it stood, as JSON. */
const MAX_RAW_BYTES = 256 * 1024;
/** Most of one value in what is kept as it stood. */
const MAX_RAW_TEXT = 2000;

/** What stood in a file, by group and name such as `XMP-dc:Title`. */
export type Tags = ReadonlyMap<string, readonly string[]>;

/** Trimmed, without characters that PostgreSQL does not store, and no longer than a value may be. */
export function clean(text: string, most = MAX_TEXT): string {
  const stored = text.replaceAll('\0', '').trim();
  return stored.length <= most ? stored.toWellFormed() : stored.slice(0, most).toWellFormed().trimEnd();
}

/** A value as texts: one, or those of a list; nothing for what is neither text nor number. */
function texts(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value.slice(0, MAX_LIST) : [value];
  return all.flatMap((one) => {
    if (typeof one === 'number' || typeof one === 'boolean') return [String(one)];
    const text = typeof one === 'string' ? clean(one) : '';
    return text === '' ? [] : [text];
  });
}

/** A text in one language: `Title-fr`, `FontFamily-en-US`. */
const inLanguage = /^(.+)-([a-z]{2,3})(?:-[A-Za-z]{2,4})?$/;

/**
 * Tags by what they were read as, `EXIF:IFD0:Make` or `IPTC:City`: each can be asked for under its family and under
 * its own group. Of several of one name the first counts; a text that is there in single languages only counts in
 * English, or in the first of them.
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

/** Which of the standards a tag belongs to. */
export function originOf(tag: string): Origin {
  const group = tag.slice(0, tag.indexOf(':'));
  // What ExifTool derives is derived from the camera's tags, but for the length and coding of sound and film.
  if (group === 'Composite') return /Duration|Codec/.test(tag) ? 'file' : 'exif';
  if (group.startsWith('XMP')) return 'xmp';
  if (group === 'IPTC') return 'iptc';
  return group === 'EXIF' || group === 'MakerNotes' ? 'exif' : 'file';
}

/** What is kept as it stood: every value shortened, and no more of them than fit. */
export function boundedRaw(read: Iterable<readonly [string, unknown]>): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  let bytes = 2;
  for (const [key, value] of read) {
    const values = texts(value).map((text) => clean(text, MAX_RAW_TEXT));
    if (values.length === 0) continue;
    const entry = Array.isArray(value) ? values : (values[0] ?? '');
    // Quotes, colon and comma around the key.
    bytes += Buffer.byteLength(JSON.stringify(entry)) + Buffer.byteLength(JSON.stringify(clean(key))) + 2;
    if (bytes > MAX_RAW_BYTES) break;
    kept[clean(key)] = entry;
  }
  return kept;
}
