import type { CardField } from '@vitrine/contract/field-values';
import { shortMomentOf } from '#lib/time/moments.ts';
import { dayInWords } from './value-words.ts';

/** One value of a card's strip; what says nothing alone gets its field's name. */
function cardWord({ label, value }: CardField, language?: string): string {
  if (value === 'true') return label;
  if (value === 'false') return `Not ${label.toLocaleLowerCase()}`;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return dayInWords(value, language);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value)) return shortMomentOf(value, language);
  return /^-?[\d.]+(e[+-]?\d+)?$/i.test(value) ? `${label} ${value}` : value;
}

/** The strip of a card on one line; empty when there is nothing to say. */
export function cardLine(fields: readonly CardField[] | undefined, language?: string): string {
  return (fields ?? []).map((field) => cardWord(field, language)).join(' · ');
}
