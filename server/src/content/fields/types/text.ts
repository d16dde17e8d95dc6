import { type Constraints, factsOf } from '@vitrine/contract/field-types';
import { sql } from 'kysely';
import { containsPattern } from '../../../platform/database/like.ts';
import { textCells } from './cells.ts';
import { charactersIn, checkLength, emptyValue } from './characters.ts';
import type { FieldTypeRules, ValueFault } from './field-type.ts';

/** Returns how the length of a text violates the constraints; null when it does not. */
export function faultOfLength({ min_length, max_length }: Constraints, value: string): ValueFault | null {
  const characters = charactersIn(value);
  if (min_length !== undefined && characters < min_length)
    return { kind: 'text-too-short', limit: min_length };
  if (max_length !== undefined && characters > max_length)
    return { kind: 'text-too-long', limit: max_length };
  return null;
}

/** Plain text of one or several lines. */
function plainText(type: 'text' | 'longtext', separator: string): FieldTypeRules {
  const { mostCharacters: most = 0 } = factsOf[type];
  return {
    parse: (code, { value_text: text }) => {
      if (text == null) return null;
      if (text === '') throw emptyValue(code);
      checkLength(code, text, most);
      return { kind: 'text', text };
    },
    faultOf: (constraints, value) => (value.kind === 'text' ? faultOfLength(constraints, value.text) : null),
    ofContext: (context) => ('name' in context ? { kind: 'text', text: context.name } : null),
    /** Compares the whole text, but searches by its first 100 characters, because index entries must stay small. */
    filter: ({ operator, value }) =>
      operator === '~'
        ? sql`v.value_text ilike ${containsPattern(value)}`
        : sql`(left(v.value_text, 100) = left(${value}, 100) and v.value_text = ${value})`,
    words: () => words,
    searched: words,
    extraction: {
      from: 'text',
      longest: most,
      convert: (text) => (text.trim() === '' ? null : { kind: 'text', text }),
      separator,
      longestJoined: most,
    },
    cells: textCells,
    federation: { form: 'text', takes: ['text', 'longtext'] },
  };
}

const words = sql<string | null>`v.value_text`;

export const text = plainText('text', '; ');
export const longtext = plainText('longtext', '\n');
