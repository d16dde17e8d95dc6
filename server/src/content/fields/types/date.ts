import { sql } from 'kysely';
import { refuse } from '../../../platform/http/refuse.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { readDay, startOfDay } from '../values/moments.ts';
import type { TypedValue } from '../values/typed-value.ts';
import { dayCells } from './cells.ts';
import type { FieldTypeRules } from './field-type.ts';
import { comparison, wrongValue } from './filtering.ts';
import { faultOfMoment, momentIn } from './moment.ts';

function readValue(text: string): TypedValue | null {
  const day = readDay(text);
  return day === null ? null : { kind: 'date', date: startOfDay(day) };
}

/** A day without a time, stored as its start in UTC. */
export const date: FieldTypeRules = {
  parse: (code, { value_date: text }) => {
    if (text == null) return null;
    const value = readValue(text);
    if (value === null) throw refuse('value-not-day', { property: code });
    return value;
  },
  faultOf: faultOfMoment,
  ofContext: (context) =>
    'now' in context ? { kind: 'date', date: startOfDay(context.now.slice(0, 10)) } : null,
  filter: (filter) => {
    const day = readDay(filter.value);
    if (day === null) throw wrongValue(filter, sentence('a day'));
    return sql`v.value_date ${comparison(filter.operator)} ${startOfDay(day)}::timestamptz`;
  },
  words: () => sql`to_char(v.value_date, 'YYYY-MM-DD')`,
  searched: null,
  extraction: {
    from: 'single',
    // The local day where the picture was taken.
    offer: (found) => momentIn(found)?.slice(0, 10),
    convert: (found) => readValue(String(found)),
  },
  cells: dayCells,
  federation: { form: 'day', takes: ['date'] },
};
