import { phrase } from '#lib/languages/phrase.ts';
import { writtenDayOf } from '#lib/time/moments.ts';
import { asTyped, type Comparison, type FieldTypeView } from './field-type.ts';

const times: readonly Comparison[] = [
  { value: '=', label: phrase('is') },
  { value: '>=', label: phrase('from') },
  { value: '<=', label: phrase('up to') },
  { value: '>', label: phrase('after') },
  { value: '<', label: phrase('before') },
];

/** What days and times have in common. A day matches the whole day, so times are searched by day. */
export const moments = {
  display: 'words',
  filterControl: { kind: 'line', type: 'date' },
  comparisons: times,
  filterWords: (value) => (/^\d{4}-\d\d-\d\d$/.test(value) ? writtenDayOf(value) : value),
  defaultWords: asTyped,
} as const satisfies Partial<FieldTypeView>;
