import { Marked } from 'marked';
import sanitize from 'sanitize-html';
import { escapeHtml } from '../../platform/escape-html.ts';
import type { Flavour } from './flavour.ts';
import { highlighted } from './highlighted.ts';
import type { Table } from './table.ts';

/**
 * The HTML that Markdown may produce. Excludes pictures, because loading them from a remote server would reveal the
 * reader to the author. Links open in a new window without a referrer.
 */
const markdownRules: sanitize.IOptions = {
  allowedTags: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'code', 'ul', 'ol', 'li'],
    ...['strong', 'b', 'em', 'i', 'del', 's', 'sub', 'sup', 'kbd', 'a', 'span', 'details', 'summary'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  allowedAttributes: {
    a: ['href', 'title', 'rel', 'target'],
    ol: ['start'],
    th: ['align'],
    td: ['align'],
  },
  allowedClasses: { code: ['hljs'], span: ['hljs-*'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  transformTags: {
    a: sanitize.simpleTransform('a', { rel: 'noopener noreferrer nofollow', target: '_blank' }),
  },
};

const marked = new Marked({
  gfm: true,
  renderer: {
    code: ({ text, lang }) =>
      `<pre><code class="hljs">${highlighted(text, lang?.split(/\s/)[0] ?? null)}</code></pre>\n`,
  },
});

function markdown(text: string): string {
  return sanitize(marked.parse(text, { async: false }), markdownRules);
}

function tableHtml({ rows, isCut }: Table): string {
  const cells = (row: readonly string[], tag: 'td' | 'th') =>
    row.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('');
  const [head = [], ...others] = rows;
  const body = others.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
  const note = isCut ? `<p class="cut">Only the first ${rows.length} rows are shown.</p>` : '';
  return `<table>\n<thead><tr>${cells(head, 'th')}</tr></thead>\n<tbody>\n${body}\n</tbody>\n</table>${note}`;
}

/**
 * Returns a text as an HTML fragment for the viewer: one element whose class names its kind (`text-plain`,
 * `text-code`, `text-markdown` or `text-table`). It contains no scripts, styles, pictures or forms. `cutAt` is the
 * number of bytes after which the text was cut off.
 */
export function textHtml({
  text,
  flavour,
  table,
  cutAt,
}: {
  text: string;
  flavour: Flavour;
  table: Table | null;
  cutAt: number | null;
}): string {
  const note =
    cutAt === null ? '' : `\n<p class="cut">Only the first ${Math.round(cutAt / 1000)} kB are shown.</p>`;
  if (table !== null) return `<div class="text-table">${tableHtml(table)}${note}</div>\n`;
  switch (flavour.kind) {
    case 'markdown':
      return `<div class="text-markdown">${markdown(text)}${note}</div>\n`;
    case 'code': {
      const language = flavour.language === null ? '' : ` data-language="${flavour.language}"`;
      return `<div class="text-code"${language}><pre><code class="hljs">${highlighted(text, flavour.language)}</code></pre>${note}</div>\n`;
    }
    default:
      return `<div class="text-plain"><pre>${escapeHtml(text)}</pre>${note}</div>\n`;
  }
}
