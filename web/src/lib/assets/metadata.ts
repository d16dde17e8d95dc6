import { series } from '#lib/texts/series.ts';

interface Fact {
  readonly name: string;
  readonly value: string;
}

const abbreviations = new Map([
  ['iso', 'ISO'],
  ['gps', 'GPS'],
  ['exif', 'EXIF'],
  ['iptc', 'IPTC'],
  ['xmp', 'XMP'],
  ['url', 'URL'],
  ['id', 'ID'],
]);

/** Formats a key: `camera_make` and `cameraMake` both become "Camera make". */
export function keyInWords(key: string): string {
  const words = key
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .split(/[\s_-]+/u)
    .filter((word) => word !== '')
    .map((word) => abbreviations.get(word.toLowerCase()) ?? word.toLowerCase());
  const [first = key, ...rest] = words;
  const [letter = '', ...letters] = first;
  return [letter.toLocaleUpperCase() + letters.join(''), ...rest].join(' ');
}

function valueInWords(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) {
    return value.every((item) => typeof item !== 'object')
      ? series(value.map(valueInWords))
      : JSON.stringify(value);
  }
  return JSON.stringify(value);
}

/**
 * Returns the free-form metadata of an asset as labelled lines. Omits empty values and flattens one level of nesting.
 */
export function metadataFacts(metadata: Readonly<Record<string, unknown>>): readonly Fact[] {
  return Object.entries(metadata)
    .flatMap(([key, value]): Fact[] => {
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return Object.entries(value).map(([inner, item]) => ({
          name: `${keyInWords(key)}: ${keyInWords(inner)}`,
          value: valueInWords(item),
        }));
      }
      return [{ name: keyInWords(key), value: valueInWords(value) }];
    })
    .filter(({ value }) => value !== '');
}
