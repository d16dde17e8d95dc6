/** The preferred language as formatters take it; undefined follows the browser, as does one they do not know. */
export function localeOf(language: string | undefined): string | undefined {
  if (language === undefined || language === '') return undefined;
  try {
    return Intl.getCanonicalLocales(language)[0];
  } catch {
    return undefined;
  }
}

/** Day and time, short enough for a list: "3 May 2026, 14:05" in the reader's language and time zone. */
export function shortMomentOf(timestamp: string, language?: string): string {
  return new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(timestamp),
  );
}

/** The day alone: "3 May 2026". */
export function shortDayOf(timestamp: string, language?: string): string {
  return new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium' }).format(new Date(timestamp));
}

/** The time of day alone: "14:05". */
export function hourOf(timestamp: string, language?: string): string {
  return new Intl.DateTimeFormat(localeOf(language), { timeStyle: 'short' }).format(new Date(timestamp));
}
