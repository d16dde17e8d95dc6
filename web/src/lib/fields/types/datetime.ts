import { writtenMomentOf } from '#lib/time/moments.ts';
import type { FieldTypeView } from './field-type.ts';
import { moments } from './moments.ts';

/** Reads a clock time as UTC, without an offset, so that everyone is shown the time as typed. */
function instantOf(text: string): string | undefined {
  const at = new Date(`${text}Z`);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

export const datetime: FieldTypeView = {
  ...moments,
  label: 'Day and time',
  icon: 'calendar-clock',
  explanation: 'A time as read on the clock there.',
  words: ({ value_date }, { language }) =>
    value_date === undefined ? '' : writtenMomentOf(value_date, language),
  control: { kind: 'line', type: 'datetime-local', step: 1 },
  draftOf: ({ value_date }) => value_date?.slice(0, 19) ?? '',
  sentOf: (text) => {
    const instant = instantOf(text);
    return instant === undefined
      ? { kind: 'problem', text: 'This is not a day and time.' }
      : { kind: 'value', members: { value_date: instant } };
  },
  defaultControl: { kind: 'line', type: 'datetime-local', hint: 'In your own time zone.' },
  defaultText: ({ value_date }) => value_date?.slice(0, 16) ?? '',
  defaultOf: (text) => {
    const instant = instantOf(text);
    return instant === undefined ? null : { value_date: instant };
  },
  defaultWords: (text) => text.replace('T', ' '),
  constraints: [
    { name: 'min', label: 'Earliest', input: 'datetime-local' },
    { name: 'max', label: 'Latest date', input: 'datetime-local' },
  ],
};
