import { phrase } from '#lib/languages/phrase.ts';

/** The lifetime of a new token; `date` is a day that the user picks. */
export type Lifetime = '30' | '90' | '365' | 'never' | 'date';

export const lifetimeLabels: Readonly<Record<Lifetime, string>> = {
  '30': phrase('30 days'),
  '90': phrase('90 days'),
  '365': 'A year',
  never: 'Until it is revoked',
  date: 'Until a day I pick',
};

export const lifetimeChoices: readonly Lifetime[] = ['30', '90', '365', 'never', 'date'];

/**
 * Returns when a token created now expires: RFC 3339, or null for never. `day` is `YYYY-MM-DD` and inclusive in the
 * user's time zone; undefined if it is invalid or past.
 */
export function expiryOf(lifetime: Lifetime, day: string, now: Date): string | null | undefined {
  if (lifetime === 'never') return null;
  if (lifetime === 'date') {
    const end = new Date(`${day}T23:59:59`);
    return Number.isNaN(end.getTime()) || end <= now ? undefined : end.toISOString();
  }
  const end = new Date(now);
  end.setDate(end.getDate() + Number(lifetime));
  return end.toISOString();
}

/** Returns the day of a time as a date field expects it, `YYYY-MM-DD`, in the user's time zone. */
export function dayFieldOf(moment: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}
