import { writtenDayOf } from '#lib/time/moments.ts';
import type { FieldTypeView } from './field-type.ts';
import { moments } from './moments.ts';

export const date: FieldTypeView = {
  ...moments,
  label: 'Day',
  icon: 'calendar',
  explanation: 'A date without a time.',
  words: ({ value_date }, { language }) =>
    value_date === undefined ? '' : writtenDayOf(value_date, language),
  control: { kind: 'line', type: 'date' },
  draftOf: ({ value_date }) => value_date?.slice(0, 10) ?? '',
  sentOf: (text) => ({ kind: 'value', members: { value_date: text } }),
  defaultControl: { kind: 'line', type: 'date' },
  defaultText: ({ value_date }) => value_date?.slice(0, 10) ?? '',
  defaultOf: (text) => ({ value_date: `${text}T00:00:00Z` }),
  constraints: [
    { name: 'min', label: 'Earliest', input: 'date' },
    { name: 'max', label: 'Latest date', input: 'date' },
  ],
};
