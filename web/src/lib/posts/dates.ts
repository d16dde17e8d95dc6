/** A day as people write it, in the reader's own language and time zone. */
export function dayOf(timestamp: string, locale?: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(new Date(timestamp));
}

/** Day and time, for a tooltip. */
export function momentOf(timestamp: string, locale?: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short' }).format(
    new Date(timestamp),
  );
}
