import { createHash } from 'node:crypto';
import { type IncomingMessage, ServerResponse } from 'node:http';

/** Features that no page uses, disabled so that no injected script or embedded document can request them. */
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

/** Builds a Content-Security-Policy header from its directives. */
function policyOf(directives: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(directives)
    .map(([name, sources]) => [name, ...sources].join(' '))
    .join('; ');
}

/** For responses that are not pages: they load nothing, run nothing and cannot be framed. */
const closedPolicy = policyOf({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] });

/** For bytes that users uploaded: as `closedPolicy`, and in an opaque origin when opened as a document. */
export const sandboxPolicy = `${closedPolicy}; sandbox`;

/** For a small page of plain HTML with inline styles and a form that posts to this site. */
export const formPolicy = `${closedPolicy}; style-src 'unsafe-inline'; form-action 'self'`;

/** For addresses that are secrets: hides them from search engines and other sites. */
export const unlistedHeaders = { 'x-robots-tag': 'noindex', 'referrer-policy': 'no-referrer' } as const;

/**
 * Returns the headers of every response, by name. A handler may override one, as pages do with their
 * Content-Security-Policy. `strictTransport` adds HSTS, for a site that uses HTTPS only.
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
    // Only public pages may be indexed; they remove this header (pages.ts).
    'x-robots-tag': 'noindex',
    // The XSS filter that this header controlled was itself exploitable; 0 disables it where it still exists.
    'x-xss-protection': '0',
    ...(strictTransport ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } : {}),
  };
}

/**
 * Returns a response class with preset headers, for the server option `ServerResponse`; calls `onRequest` with each
 * response. Hooks of the framework would miss its own responses, to malformed addresses and while closing. A listener
 * of the server would miss the second socket that Fastify opens for `localhost`.
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

/**
 * Returns the sources that allow exactly the inline scripts of this HTML, which must be ours and free of user input.
 */
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
    // Positions of feed tiles and menus are inline styles; scripts stay restricted.
    'style-src': ["'self'", "'unsafe-inline'"],
    // Chosen files that are not uploaded yet use blob: addresses, placeholders use data: addresses.
    'img-src': ["'self'", 'blob:', 'data:'],
    // The page assembles streams and unpacks textures of 3D models.
    'media-src': ["'self'", 'blob:'],
    'connect-src': ["'self'", 'blob:'],
    'object-src': ["'none'"],
    'base-uri': ["'none'"],
    'form-action': ["'self'"],
    'frame-ancestors': ["'none'"],
  });
}

/** The Content-Security-Policy of the API reference page. */
export function referencePolicy(html: string): string {
  return policyOf({
    'default-src': ["'none'"],
    'script-src': ["'self'", ...inlineScripts(html)],
    // The reader has its styles inside its script.
    'style-src': ["'unsafe-inline'"],
    'img-src': ["'self'", 'data:'],
    // It fetches the description, and sends the requests that a reader tries.
    'connect-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  });
}
