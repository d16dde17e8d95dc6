import { isolated, locale } from '#lib/languages/language.ts';
import { plural } from '#lib/languages/plural.ts';

/** Returns the preferred language for formatters; that of the page if it is not set or not supported. */
export function localeOf(language: string | undefined): string {
  if (language === undefined || language === '') return locale();
  try {
    return Intl.getCanonicalLocales(language)[0] ?? locale();
  } catch {
    return locale();
  }
}

/** Formats a date, with "a.m." or "p.m." on the line of its hour. */
function unbroken(format: Intl.DateTimeFormat, date: Date): string {
  const parts = format.formatToParts(date);
  const isPeriod = (at: number) => parts[at]?.type === 'dayPeriod';
  return parts
    .map(({ type, value }, at) =>
      type === 'literal' && (isPeriod(at - 1) || isPeriod(at + 1)) ? value.replace(/^\s$/, '\u00a0') : value,
    )
    .join('');
}

function written(timestamp: string, language: string | undefined, style: Intl.DateTimeFormatOptions): string {
  return isolated(unbroken(new Intl.DateTimeFormat(localeOf(language), style), new Date(timestamp)));
}

/** Formats a day: "3 May 2026" with the full month, in the reader's language and time zone. */
export function dayOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { dateStyle: 'long' });
}

/** Formats weekday, day and time for a tooltip. */
export function momentOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { dateStyle: 'full', timeStyle: 'short' });
}

/** Formats a day briefly for a list: "3 May 2026". */
export function shortDayOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { dateStyle: 'medium' });
}

/** Formats day and time briefly for a list: "3 May 2026, 14:05". */
export function shortMomentOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Formats a day as it was written, for every reader: "3 May 2026" with the full month. */
export function writtenDayOf(day: string, language?: string): string {
  const style = { dateStyle: 'long', timeZone: 'UTC' } as const;
  return isolated(new Intl.DateTimeFormat(localeOf(language), style).format(new Date(day)));
}

/** Matches the clock time of a timestamp, without its offset. */
const clockTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?/;

/**
 * Formats day and time briefly as they were written, for every reader: when a photograph was taken does not depend on
 * where it is looked at.
 */
export function writtenMomentOf(timestamp: string, language?: string): string {
  const [clock = timestamp] = clockTime.exec(timestamp) ?? [];
  const style = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  return isolated(unbroken(new Intl.DateTimeFormat(localeOf(language), style), new Date(`${clock}Z`)));
}

/** Formats the time of day: "14:05". */
export function hourOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { timeStyle: 'short' });
}

/** Formats a number of days. */
export function daysInWords(days: number): string {
  return plural(days, ['one day', '# days']);
}
