import { decodeHTML } from 'entities';

/** Texts of ResourceSpace: translations, markup in labels, and dates of which a part is missing. */

export interface Translated {
  /** The text in the default language, or else the first one. */
  text: string;
  /** All texts by language, in their order; empty for a text without translations. */
  translations: ReadonlyMap<string, string>;
}

/**
 * Reads `~en:Blue~fr:Bleu`. A text of which any part has no language code is not translated, such as `~50 people`.
 */
export function readTranslated(stored: string, defaultLanguage: string): Translated {
  const plain = { text: stored, translations: new Map<string, string>() };
  if (!stored.startsWith('~')) return plain;
  const translations = new Map<string, string>();
  for (const part of stored.split('~').slice(1)) {
    const at = part.indexOf(':');
    if (at !== 2 && at !== 5 && at !== 0) return plain;
    translations.set(part.slice(0, at).toLowerCase(), part.slice(at + 1));
  }
  const [first = stored] = translations.values();
  return { text: translations.get(defaultLanguage.toLowerCase()) ?? first, translations };
}

/** Returns a label as plain text: without tags, with entities resolved, on one line. */
export function labelOf(stored: string, defaultLanguage: string): string {
  const { text } = readTranslated(stored, defaultLanguage);
  const withoutTags = text.replaceAll(/<\/?[a-z][^<>]*>/gi, '');
  return decodeHTML(withoutTags).replaceAll(/\s+/g, ' ').trim();
}

const day = /^(\d{4})-(\d\d)-(\d\d)$/;
const time = /^(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d)(?::(\d\d))?$/;

function isDay(text: string): boolean {
  const [, year = ''] = day.exec(text) ?? [];
  if (year === '' || Number(year) < 1000) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  // `Date` parses 31 February as a day in March.
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}

/** Returns the day in the form of values, or null if the text is no whole day from the year 1000 on. */
export function readDay(text: string): string | null {
  return isDay(text) ? text : null;
}

/** Returns the instant in UTC, or null if the text is not a whole day with a time. */
export function readMoment(text: string): string | null {
  const [, date = '', hours = '', minutes = '', seconds = '00'] = time.exec(text) ?? [];
  if (!isDay(date) || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null;
  return `${date}T${hours}:${minutes}:${seconds}Z`;
}

/** Returns a column of MySQL's DATETIME or TIMESTAMP as an instant in UTC; null for none and for `0000-00-00`. */
export function readColumnTime(text: string | null): string | null {
  if (text === null) return null;
  return readMoment(text.replace(/\.\d+$/, '')) ?? (isDay(text) ? `${text}T00:00:00Z` : null);
}

/** Returns a number that reads back as the same text, so that `007` and `1,5` stay texts. */
export function readPlainNumber(text: string): number | null {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) && String(value) === text ? value : null;
}
