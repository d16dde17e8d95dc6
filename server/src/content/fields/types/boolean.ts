import { sql } from 'kysely';
import { refuse } from '../../../platform/http/refuse.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { booleanCells } from './cells.ts';
import type { FieldTypeRules } from './field-type.ts';
import { wrongValue } from './filtering.ts';
import { numberIn } from './number.ts';

const written = new Map([
  ['0', 0],
  ['1', 1],
  ['false', 0],
  ['true', 1],
]);

/** Yes or no, stored as 1 or 0. */
export const boolean: FieldTypeRules = {
  parse: (code, { value_num: num }) => {
    if (num == null) return null;
    if (num !== 0 && num !== 1) throw refuse('value-not-boolean', { property: code });
    // Stores -0 as 0.
    return { kind: 'num', num: num === 0 ? 0 : 1 };
  },
  faultOf: () => null,
  ofContext: () => null,
  filter: (filter) => {
    const num = written.get(filter.value.toLowerCase());
    if (num === undefined) throw wrongValue(filter, sentence('0 or 1'));
    return sql`v.value_num = ${num}::double precision`;
  },
  words: () => sql`case v.value_num when 1 then 'true' else 'false' end`,
  searched: null,
  extraction: {
    from: 'single',
    offer: numberIn,
    convert: (found) => {
      const num = Number(found);
      return num === 0 || num === 1 ? { kind: 'num', num } : null;
    },
  },
  cells: booleanCells,
  federation: { form: 'flag', takes: ['boolean'] },
};
