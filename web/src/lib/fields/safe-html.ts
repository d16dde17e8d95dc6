/** What rich text may be made of; the service keeps the same list when it stores it (VALUE-10). */
const allowed = new Set(
  'p br hr h1 h2 h3 h4 h5 h6 blockquote pre code strong b em i u s sub sup mark ul ol li a'.split(' '),
);

/** Elements whose text is no prose. */
const dropped = new Set(
  'script style textarea option noscript title template xmp iframe svg math'.split(' '),
);

/** The address of a link when it is one of those that only lead somewhere. */
export function safeAddress(href: string | null): string | undefined {
  if (href === null) return undefined;
  return /^(https?:\/\/|mailto:)/i.test(href.trim()) ? href.trim() : undefined;
}

function copyOf(node: Node, page: Document, depth: number): Node[] {
  if (node.nodeType === Node.TEXT_NODE) return [page.createTextNode(node.textContent ?? '')];
  if (!(node instanceof Element) || depth > 40) return [];
  const name = node.localName;
  if (dropped.has(name)) return [];
  const inner = [...node.childNodes].flatMap((child) => copyOf(child, page, depth + 1));
  if (!allowed.has(name)) return inner;
  const copy = page.createElement(name);
  if (name === 'a') {
    const href = safeAddress(node.getAttribute('href'));
    if (href === undefined) return inner;
    copy.setAttribute('href', href);
    copy.setAttribute('rel', 'noopener noreferrer nofollow');
    copy.setAttribute('target', '_blank');
  }
  const start = node.getAttribute('start');
  if (name === 'ol' && start !== null && /^\d{1,6}$/.test(start)) copy.setAttribute('start', start);
  copy.append(...inner);
  return [copy];
}

/**
 * Stored HTML as nodes made anew, of allowed elements alone. The service cleaned it already; this holds even where
 * that failed, since nothing is ever handed to the page as markup.
 */
export function nodesOf(html: string, page: Document): Node[] {
  const read = new DOMParser().parseFromString(html, 'text/html');
  return [...read.body.childNodes].flatMap((node) => copyOf(node, page, 0));
}
