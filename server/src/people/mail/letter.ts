import { directionOf, type Language } from '@vitrine/contract/languages';
import { escapeHtml } from '../../platform/escape-html.ts';

/** The content of a mail, from which its text and HTML parts are generated. */
export interface Letter {
  language: Language;
  subject: string;
  greeting: string;
  items: readonly LetterItem[];
  /** Lines at the end, such as how to unsubscribe. */
  closing: readonly { text: string; link: string | null }[];
}

export interface LetterItem {
  text: string;
  /** A quoted user text, or null. */
  quote: string | null;
  link: string | null;
}

function itemAsText({ text, quote, link }: LetterItem): string {
  const quoted = quote === null ? [] : quote.split('\n').map((line) => `> ${line}`);
  return [text, ...quoted, ...(link === null ? [] : [link])].join('\n');
}

export function asText({ greeting, items, closing }: Letter): string {
  const end = closing.map(({ text, link }) => (link === null ? text : `${text}: ${link}`));
  return `${[greeting, ...items.map(itemAsText), `-- \n${end.join('\n')}`].join('\n\n')}\n`;
}

const linked = (text: string, link: string | null) =>
  link === null ? escapeHtml(text) : `<a href="${escapeHtml(link)}">${escapeHtml(text)}</a>`;

function itemAsHtml({ text, quote, link }: LetterItem): string {
  const quoted =
    quote === null ? '' : `<blockquote style="white-space:pre-wrap">${escapeHtml(quote)}</blockquote>`;
  return `<p>${linked(text, link)}</p>${quoted}`;
}

export function asHtml({ language, subject, greeting, items, closing }: Letter): string {
  const end = closing.map(({ text, link }) => linked(text, link)).join('<br>');
  return `<!doctype html><html lang="${language}" dir="${directionOf(language)}"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head><body><p>${escapeHtml(
    greeting,
  )}</p>${items.map(itemAsHtml).join('')}<p style="color:#666;font-size:small">${end}</p></body></html>`;
}
