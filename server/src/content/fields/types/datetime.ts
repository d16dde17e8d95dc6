import { sql } from 'kysely';
import { refuse } from '../../../platform/http/refuse.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { isDay, minutesOf, readInstant, startOfDay, startOfNextDay, withOffset } from '../values/moments.ts';
import { localTime } from '../values/store.ts';
import type { TypedValue } from '../values/typed-value.ts';
import { instantCells } from './cells.ts';
import type { FieldTypeRules } from './field-type.ts';
import { comparison, wrongValue } from './filtering.ts';
import { faultOfMoment, momentIn } from './moment.ts';

function readValue(text: string): TypedValue | null {
  const instant = readInstant(text);
  return instant === null ? null : { kind: 'date', date: withOffset(instant, minutesOf(text)) };
}

/** An instant with the offset of the clock with which it was written (VALUE-26). */
export const datetime: FieldTypeRules = {
  parse: (code, { value_date: text }) => {
    if (text == null) return null;
    const value = readValue(text);
    if (value === null) throw refuse('value-not-instant', { property: code });
    return value;
  },
  faultOf: faultOfMoment,
  ofContext: (context) => ('now' in context ? { kind: 'date', date: context.now } : null),
  /**
   * A day covers all its instants, on the clock with which they were written: `=` matches any of them, `>` those after
   * its end.
   */
  filter: (filter) => {
    const { operator, value } = filter;
    if (!isDay(value)) {
      const at = readInstant(value);
      if (at === null) throw wrongValue(filter, sentence('a day or an instant'));
      return sql`v.value_date ${comparison(operator)} ${at}::timestamptz`;
    }
    const start = startOfDay(value);
    const end = startOfNextDay(value) ?? 'infinity';
    // The first condition of each pair can use the index.
    const until = (at: string) =>
      sql<boolean>`(v.value_date < ${at}::timestamptz + interval '1 day' and ${localTime} < ${at}::timestamptz)`;
    const since = (at: string) =>
      sql<boolean>`(v.value_date >= ${at}::timestamptz - interval '1 day' and ${localTime} >= ${at}::timestamptz)`;
    if (operator === '<') return until(start);
    if (operator === '>=') return since(start);
    if (operator === '<=') return until(end);
    if (operator === '>') return since(end);
    return sql`(${since(start)} and ${until(end)})`;
  },
  words: () => sql`to_char(${localTime}, 'YYYY-MM-DD"T"HH24:MI:SS') ||
    case when v.value_offset is null then 'Z' when v.value_offset < 0 then '-' else '+' end ||
    coalesce(to_char(make_interval(mins => abs(v.value_offset)), 'HH24:MI'), '')`,
  searched: null,
  extraction: {
    from: 'single',
    offer: momentIn,
    convert: (found) => readValue(String(found)),
  },
  cells: instantCells,
  federation: { form: 'time', takes: ['datetime'] },
};
