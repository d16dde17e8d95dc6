/** The preferred language as formatters take it; undefined follows the browser, as does one they do not know. */
export function localeOf(language: string | undefined): string | undefined {
  if (language === undefined || language === '') return undefined;
  try {
    return Intl.getCanonicalLocales(language)[0];
  } catch {
    return undefined;
  }
}

function written(timestamp: string, language: string | undefined, style: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(localeOf(language), style).format(new Date(timestamp));
}

/** The day as people write it: "3 May 2026" with the month in full, in the reader's language and time zone. */
export function dayOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { dateStyle: 'long' });
}

/** Weekday, day and time, for a tooltip. */
export function momentOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { dateStyle: 'full', timeStyle: 'short' });
}

/** The day, short enough for a list: "3 May 2026". */
export function shortDayOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { dateStyle: 'medium' });
}

/** Day and time, short enough for a list: "3 May 2026, 14:05". */
export function shortMomentOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { dateStyle: 'medium', timeStyle: 'short' });
}

/** The time of day alone: "14:05". */
export function hourOf(timestamp: string, language?: string): string {
  return written(timestamp, language, { timeStyle: 'short' });
}

/** A span of days, for people. */
export function daysInWords(days: number): string {
  return days === 1 ? 'one day' : `${days} days`;
}
