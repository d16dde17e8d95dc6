import type { FieldTypeView } from './field-type.ts';
import { contains, longtext } from './text.ts';

const named: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

/** Returns rich text without markup, on one line. */
export function plainText(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|quot|#39|nbsp|amp);/g, (entity) => named[entity] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
}

export const richText: FieldTypeView = {
  ...longtext,
  label: 'Formatted text',
  icon: 'letter-text',
  explanation: 'Text with headings, lists and links.',
  display: 'rich text',
  words: ({ value_text }) => plainText(value_text ?? ''),
  control: { kind: 'rich text' },
  comparisons: [contains],
  defaultControl: { kind: 'lines', hint: 'Written as HTML; elements that are not allowed are removed.' },
};
