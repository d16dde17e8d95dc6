import { createRequire } from 'node:module';
import { sql } from 'kysely';
import type sanitizeHtml from 'sanitize-html';

const require = createRequire(import.meta.url);

/**
 * The elements and attributes of rich text (VALUE-10): a closed list of tags, and links with three schemes. No
 * images, styles, classes, ids or frames.
 */
const allowed: sanitizeHtml.IOptions = {
  allowedTags: [
    'p',
    'br',
    'hr',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'blockquote',
    'pre',
    'code',
    'strong',
    'b',
    'em',
    'i',
    'u',
    's',
    'sub',
    'sup',
    'mark',
    'ul',
    'ol',
    'li',
    'a',
  ],
  allowedAttributes: { a: ['href', 'rel'], ol: ['start'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesAppliedToAttributes: ['href'],
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  // The text of these elements is not prose, so it is removed with them.
  nonTextTags: ['script', 'style', 'textarea', 'option', 'noscript', 'title', 'template', 'xmp', 'iframe'],
  // Deeper than any real text; renderers may recurse.
  nestingLimit: 30,
  transformTags: {
    a: (tagName, attribs) => ({
      tagName,
      // Hides the referrer from linked sites and gives them no weight with search engines.
      attribs: attribs.href === undefined ? {} : { href: attribs.href, rel: 'noopener noreferrer nofollow' },
    }),
    ol: (tagName, attribs) => ({
      tagName,
      attribs: /^\d{1,6}$/.test(attribs.start ?? '') ? { start: attribs.start ?? '' } : {},
    }),
  },
};

/** Removes everything that could run, load or restyle. Idempotent. */
export function cleanHtml(html: string): string {
  // Loaded with the first HTML: its 74 modules slow the start. `require` returns an untyped module.
  const sanitize = require('sanitize-html') as typeof sanitizeHtml;
  // The second pass removes `rel` from a link whose address the first pass removed.
  return sanitize(sanitize(html, allowed), allowed);
}

/** Converts plain text to HTML. */
export function htmlOf(text: string): string {
  const escaped = escapeHtml(text);
  return escaped
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${paragraph.replaceAll('\n', '<br />')}</p>`)
    .join('');
}

/** Escapes text as it is escaped in stored rich text. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns the characters of cleaned HTML without its markup. */
export function textIn(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** Whether the HTML contains no visible text. */
export function hasNoText(html: string): boolean {
  return textIn(html).trim() === '';
}

/** Rich text of a value `v` without markup. Each tag becomes a blank. */
export const plainText = sql<string>`replace(replace(replace(replace(
  regexp_replace(v.value_text, '<[^>]*>', ' ', 'g'), '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&amp;', '&')`;
