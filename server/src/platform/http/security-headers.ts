import { createHash } from 'node:crypto';
import { type IncomingMessage, ServerResponse } from 'node:http';

/** Features that no page of ours uses, so that no injected script or embedded document can ask for them. */
const unusedFeatures = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'usb',
];

/** A Content-Security-Policy header from its directives. */
function policyOf(directives: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(directives)
    .map(([name, sources]) => [name, ...sources].join(' '))
    .join('; ');
}

/** For everything that is not a page: it loads nothing, runs nothing and appears in no frame. */
const closedPolicy = policyOf({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] });

/** For bytes that users uploaded: as `closedPolicy`, and in an origin of their own when opened as a document. */
export const sandboxPolicy = `${closedPolicy}; sandbox`;

/** For a small page of plain HTML with inline styles and a form that posts to this site. */
export const formPolicy = `${closedPolicy}; style-src 'unsafe-inline'; form-action 'self'`;

/** For addresses that are themselves a secret: neither search engines nor other sites get to know them. */
export const unlistedHeaders = { 'x-robots-tag': 'noindex', 'referrer-policy': 'no-referrer' } as const;

/**
 * The headers of every response, by name. A handler may set a header of the same name instead, which pages do with
 * their Content-Security-Policy. `strictTransport` adds HSTS, for a site that is reached over HTTPS only.
 */
export function securityHeaders(strictTransport: boolean): Readonly<Record<string, string>> {
  return {
    'content-security-policy': closedPolicy,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'origin-agent-cluster': '?1',
    'permissions-policy': unusedFeatures.map((feature) => `${feature}=()`).join(', '),
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'x-download-options': 'noopen',
    // For browsers that do not know frame-ancestors.
    'x-frame-options': 'DENY',
    'x-permitted-cross-domain-policies': 'none',
    // Public pages alone are for search engines, and take it away (pages.ts).
    'x-robots-tag': 'noindex',
    // The filter this once switched on was itself a way to attack; 0 turns it off where it still exists.
    'x-xss-protection': '0',
    ...(strictTransport ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } : {}),
  };
}

/**
 * Node's response with headers set from the start, for the option `ServerResponse` of a server; `onRequest` is called
 * with each. Hooks of the framework would miss its own answers: malformed addresses, and 503 while the server closes.
 * A listener of the server would miss the second socket that Fastify opens for `localhost`.
 */
export function responseWith(
  headers: Readonly<Record<string, string>>,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): typeof ServerResponse {
  const always = new Map(Object.entries(headers));
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    constructor(request: Request) {
      super(request);
      this.setHeaders(always);
      onRequest(request, this);
    }
  };
}

/** The sources that allow exactly the inline scripts of this HTML, which must be our own and not hold user input. */
function inlineScripts(html: string): string[] {
  return [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>(.*?)<\/script>/gs)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}

/** The Content-Security-Policy of a page of the web app. */
export function pagePolicy(html: string): string {
  return policyOf({
    'default-src': ["'self'"],
    'script-src': ["'self'", ...inlineScripts(html)],
    // Positions of feed tiles and menus are inline styles; scripts stay closed.
    'style-src': ["'self'", "'unsafe-inline'"],
    // Files that were chosen and not uploaded yet are shown from blob: addresses, placeholders from data: ones.
    'img-src': ["'self'", 'blob:', 'data:'],
    // Streams are put together in the page, and textures of 3D models are unpacked there.
    'media-src': ["'self'", 'blob:'],
    'connect-src': ["'self'", 'blob:'],
    'object-src': ["'none'"],
    'base-uri': ["'none'"],
    'form-action': ["'self'"],
    'frame-ancestors': ["'none'"],
  });
}

/** The Content-Security-Policy of the page on which the API description is read. */
export function referencePolicy(html: string): string {
  return policyOf({
    'default-src': ["'none'"],
    'script-src': ["'self'", ...inlineScripts(html)],
    // The reader brings its styles inside its script.
    'style-src': ["'unsafe-inline'"],
    'img-src': ["'self'", 'data:'],
    // It fetches the description, and sends the requests that are tried out on it.
    'connect-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  });
}
