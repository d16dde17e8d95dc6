import { factsOf } from '@vitrine/contract/field-types';
import { sql } from 'kysely';
import { containsPattern } from '../../../platform/database/like.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { cleanHtml, escapeHtml, hasNoText, htmlOf, plainText, textIn } from '../values/rich-text.ts';
import { textCells } from './cells.ts';
import { checkLength, emptyValue } from './characters.ts';
import type { FieldTypeRules } from './field-type.ts';
import { faultOfLength } from './text.ts';

const { mostCharacters: most = 0 } = factsOf.rich_text;

/** How many words narrow the search through the index. */
const MOST_WORDS = 5;

/** HTML of a closed list of elements (VALUE-10). */
export const richText: FieldTypeRules = {
  parse: (code, { value_text: text }) => {
    if (text == null) return null;
    if (text === '') throw emptyValue(code);
    checkLength(code, text, most);
    const html = cleanHtml(text);
    if (html.length > 2 * most) throw refuse('value-exceeds-column', { property: code, max: most });
    if (hasNoText(html)) throw refuse('value-without-text', { property: code });
    return { kind: 'text', text: html };
  },
  faultOf: (constraints, value) =>
    value.kind === 'text' ? faultOfLength(constraints, textIn(value.text)) : null,
  // `htmlOf` keeps quotation marks, so the result is cleaned like all rich text.
  ofContext: (context) =>
    'name' in context ? { kind: 'text', text: cleanHtml(htmlOf(context.name)) } : null,
  /**
   * Matches the text without its markup: finds candidates through the index by the longest words, because tags may
   * separate the words, then compares the stripped text.
   */
  filter: ({ value }) => {
    const words = [...new Set(value.split(/\s+/))].sort((a, b) => b.length - a.length).slice(0, MOST_WORDS);
    const indexed = words.map((word) => sql`v.value_text ilike ${containsPattern(escapeHtml(word))}`);
    return sql`(${sql.join(indexed, sql` and `)}
      and regexp_replace(v.value_text, '<[^>]*>', '', 'g') ilike ${containsPattern(escapeHtml(value))})`;
  },
  words: () => plainText,
  searched: plainText,
  extraction: {
    from: 'text',
    // Markup and escaping may make the text longer.
    longest: most / 8,
    convert: (text) => {
      const html = cleanHtml(htmlOf(text));
      return hasNoText(html) ? null : { kind: 'text', text: html };
    },
    separator: '',
    longestJoined: most / 2,
  },
  cells: textCells,
  federation: { form: 'text', takes: ['rich_text'] },
};
