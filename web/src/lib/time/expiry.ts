/** How long a new token is to last; `date` is a day of the calendar that the reader picks. */
export type Lasting = '30' | '90' | '365' | 'never' | 'date';

export const lastingWords: Readonly<Record<Lasting, string>> = {
  '30': '30 days',
  '90': '90 days',
  '365': 'A year',
  never: 'Until it is taken back',
  date: 'Until a day I pick',
};

export const lastingChoices: readonly Lasting[] = ['30', '90', '365', 'never', 'date'];

/**
 * When a token made now ends: RFC 3339, or null for never. `day` is `YYYY-MM-DD` and counts whole, by the
 * reader's clock; undefined when it is no day or already past.
 */
export function expiryOf(lasting: Lasting, day: string, now: Date): string | null | undefined {
  if (lasting === 'never') return null;
  if (lasting === 'date') {
    const end = new Date(`${day}T23:59:59`);
    return Number.isNaN(end.getTime()) || end <= now ? undefined : end.toISOString();
  }
  const end = new Date(now);
  end.setDate(end.getDate() + Number(lasting));
  return end.toISOString();
}

/** A moment's day as a date field writes it, `YYYY-MM-DD`, by the reader's clock. */
export function dayFieldOf(moment: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}
