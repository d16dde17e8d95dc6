import hljs from 'highlight.js';
import { escapeHtml } from '../../platform/escape-html.ts';

/** Longer lines are usually generated; highlighting them is slow and not useful. */
const LONGEST_LINE = 5000;

/** Returns code as HTML with the classes of highlight.js. All text is escaped. */
export function highlighted(text: string, language: string | null): string {
  const canBe = language !== null && hljs.getLanguage(language) !== undefined;
  if (!canBe || text.split('\n').some((line) => line.length > LONGEST_LINE)) return escapeHtml(text);
  return hljs.highlight(text, { language, ignoreIllegals: true }).value;
}

const colours: Readonly<Record<string, string>> = {
  keyword: '#cf222e',
  type: '#953800',
  built_in: '#953800',
  string: '#0a3069',
  regexp: '#0a3069',
  char: '#0a3069',
  comment: '#6e7781',
  quote: '#6e7781',
  meta: '#6e7781',
  number: '#0550ae',
  literal: '#0550ae',
  attr: '#0550ae',
  attribute: '#0550ae',
  property: '#0550ae',
  variable: '#953800',
  title: '#8250df',
  section: '#0550ae',
  symbol: '#0550ae',
  tag: '#116329',
  name: '#116329',
  'selector-tag': '#116329',
  'selector-class': '#0550ae',
  'selector-id': '#0550ae',
  addition: '#116329',
  deletion: '#cf222e',
};

export const CODE_INK = '#24292f';

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#x27': "'",
  '#39': "'",
};

/** Returns highlighted code as runs of coloured text, for drawing. */
export function colouredRuns(html: string): { text: string; fill: string }[] {
  const runs: { text: string; fill: string }[] = [];
  const open: string[] = [];
  for (const [token, opened, isClosed] of html.matchAll(
    /<span class="(?:hljs-)?([^" ]*)[^>]*>|(<\/span>)|[^<]+/g,
  )) {
    if (opened !== undefined) open.push(colours[opened] ?? open.at(-1) ?? CODE_INK);
    else if (isClosed !== undefined) open.pop();
    else {
      const text = token.replace(
        /&(amp|lt|gt|quot|#x27|#39);/g,
        (whole, name: string) => entities[name] ?? whole,
      );
      runs.push({ text, fill: open.at(-1) ?? CODE_INK });
    }
  }
  return runs;
}
