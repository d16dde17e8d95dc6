const GB = 1_000_000_000;

/** Formats a quota for a field in gigabytes; empty for no limit. */
export function gigabytesOf(bytes: number | null): string {
  return bytes === null ? '' : String(Number((bytes / GB).toFixed(3)));
}

/** Parses the field to bytes; null for no limit, undefined if it is not a number. */
export function bytesOf(typed: string): number | null | undefined {
  const text = typed.trim().replace(',', '.');
  if (text === '') return null;
  const amount = /^\d{1,7}(?:\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  return Number.isNaN(amount) ? undefined : Math.round(amount * GB);
}
