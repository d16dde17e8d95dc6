/** The elements allowed in rich text; the service has the same list (VALUE-10). */
const allowed = new Set(
  'p br hr h1 h2 h3 h4 h5 h6 blockquote pre code strong b em i u s sub sup mark ul ol li a'.split(' '),
);

/** Elements whose content is not text. */
const dropped = new Set(
  'script style textarea option noscript title template xmp iframe svg math'.split(' '),
);

/** Returns the address of a link if its scheme is allowed. */
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
 * Rebuilds stored HTML as DOM nodes with allowed elements only. The service sanitises it as well; this protects the
 * page even if that fails, because no markup is ever passed to the page.
 */
export function nodesOf(html: string, page: Document): Node[] {
  const read = new DOMParser().parseFromString(html, 'text/html');
  return [...read.body.childNodes].flatMap((node) => copyOf(node, page, 0));
}
