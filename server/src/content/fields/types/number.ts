import { sql } from 'kysely';
import { refuse } from '../../../platform/http/refuse.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { numberCells } from './cells.ts';
import type { Extracted, FieldTypeRules } from './field-type.ts';
import { comparison, wrongValue } from './filtering.ts';

/** Parses a number in a file, also one written as a fraction: `1/250`. */
export function numberIn(found: Extracted): number | undefined {
  if (typeof found === 'number') return found;
  const text = Array.isArray(found) ? found.join(', ') : found;
  const parts = /^\s*([-+]?\d+(?:\.\d+)?)(?:\s*\/\s*(\d+(?:\.\d+)?))?\s*$/.exec(text);
  const number = Number(parts?.[1] ?? Number.NaN) / Number(parts?.[2] ?? 1);
  return Number.isFinite(number) ? number : undefined;
}

/** A whole or decimal number. */
export const number: FieldTypeRules = {
  parse: (code, { value_num: num }) => {
    if (num == null) return null;
    if (!Number.isFinite(num)) throw refuse('value-not-finite', { property: code });
    // Stores -0 as 0.
    return { kind: 'num', num: num === 0 ? 0 : num };
  },
  faultOf: ({ min, max, step, integer }, value) => {
    if (value.kind !== 'num') return null;
    const { num } = value;
    if (!Number.isFinite(num)) return { kind: 'not-finite' };
    if (integer === true && !Number.isInteger(num)) return { kind: 'not-whole' };
    if (typeof min === 'number' && num < min) return { kind: 'below-minimum', limit: min };
    if (typeof max === 'number' && num > max) return { kind: 'above-maximum', limit: max };
    if (step !== undefined) {
      const steps = (num - (typeof min === 'number' ? min : 0)) / step;
      // Allows for binary fractions: 0.3 is not exactly three steps of 0.1.
      if (Math.abs(steps - Math.round(steps)) > 1e-9 * Math.max(1, Math.abs(steps)))
        return { kind: 'not-multiple-of-step', limit: step };
    }
    return null;
  },
  ofContext: () => null,
  filter: (filter) => {
    const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?$/i.test(filter.value);
    const num = Number(filter.value);
    if (!isNumber || !Number.isFinite(num)) throw wrongValue(filter, sentence('a number'));
    return sql`v.value_num ${comparison(filter.operator)} ${num}::double precision`;
  },
  words: () => sql`v.value_num::text`,
  searched: null,
  extraction: {
    from: 'single',
    offer: numberIn,
    convert: (found) => {
      const num = typeof found === 'string' && found.trim() === '' ? Number.NaN : Number(found);
      return Number.isFinite(num) ? { kind: 'num', num } : null;
    },
  },
  cells: numberCells,
  federation: { form: 'number', takes: ['number'] },
};
