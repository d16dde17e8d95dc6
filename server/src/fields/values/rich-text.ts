import { sql } from 'kysely';
import sanitize from 'sanitize-html';

/**
 * What rich text may be made of (VALUE-10): a closed list of tags, links with three schemes and nothing else
 * that an element could carry. Pictures, styles, classes, ids and frames are none of it.
 */
const allowed: sanitize.IOptions = {
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
  // Elements whose text is no prose: it goes with them.
  nonTextTags: ['script', 'style', 'textarea', 'option', 'noscript', 'title', 'template', 'xmp', 'iframe'],
  // Deeper than any text is written; what renders it may walk it by recursion.
  nestingLimit: 30,
  transformTags: {
    a: (tagName, attribs) => ({
      tagName,
      // A link leaves the page without telling it from where, and lends it no weight.
      attribs: attribs.href === undefined ? {} : { href: attribs.href, rel: 'noopener noreferrer nofollow' },
    }),
    ol: (tagName, attribs) => ({
      tagName,
      attribs: /^\d{1,6}$/.test(attribs.start ?? '') ? { start: attribs.start ?? '' } : {},
    }),
  },
};

/** The HTML with nothing left that could run, load or restyle; cleaning it again changes nothing. */
export function cleanHtml(html: string): string {
  // Twice: a link whose address was refused has been given its `rel` by then.
  return sanitize(sanitize(html, allowed), allowed);
}

/** Text as HTML that says just that. */
export function htmlOf(text: string): string {
  const escaped = escapeHtml(text);
  return escaped
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${paragraph.replaceAll('\n', '<br />')}</p>`)
    .join('');
}

/** As stored rich text has these characters. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** What of cleaned HTML is read: the characters, without the markup. */
export function textIn(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** Whether anything of it would be read: markup alone is no text. */
export function saysNothing(html: string): boolean {
  return textIn(html).trim() === '';
}

/** Rich text of a value `v` as it is read, without its markup; a blank for each tag. */
export const plainText = sql<string>`replace(replace(replace(replace(
  regexp_replace(v.value_text, '<[^>]*>', ' ', 'g'), '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&amp;', '&')`;
