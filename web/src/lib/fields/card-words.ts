import type { CardField } from '@vitrine/contract/field-values';
import { language as spoken } from '#lib/languages/language.ts';
import { writtenDayOf, writtenMomentOf } from '#lib/time/moments.ts';
import { seededLabel } from '#lib/translations/seeded.ts';

/** Formats a value for the strip of a card; adds the name of the field if the value alone is unclear. */
function cardWord({ code, label: plain, value }: CardField, language?: string): string {
  const label = seededLabel('field', code, plain);
  if (value === 'true') return label;
  // Other languages write nouns with a capital.
  if (value === 'false') return `Not ${spoken() === 'en' ? label.toLocaleLowerCase() : label}`;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return writtenDayOf(value, language);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/.test(value))
    return writtenMomentOf(value, language);
  return /^-?[\d.]+(e[+-]?\d+)?$/i.test(value) ? `${label} ${value}` : value;
}

/** Returns the strip of a card as one line; empty if there is nothing to show. */
export function cardLine(fields: readonly CardField[] | undefined, language?: string): string {
  return (fields ?? []).map((field) => cardWord(field, language)).join(' · ');
}
