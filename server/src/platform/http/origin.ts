import type { IncomingHttpHeaders } from 'node:http';
import { refuse } from './refuse.ts';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

/**
 * Whether this is the host's own page or one of the public address. The host alone is compared, because a proxy in
 * front may speak https while we do not.
 */
function isOwn(origin: string, host: string | undefined, baseUrl: string | null): boolean {
  return hostOf(origin) === host || (baseUrl !== null && hostOf(origin) === hostOf(baseUrl));
}

/**
 * Refuses a change that another site's page asks for with a visitor's cookie, beside the cookie's SameSite=Lax.
 * Browsers send `Origin` with every unsafe request; programs send none and are let through. `baseUrl` is the public
 * address, if it is set.
 */
export function checkOrigin(method: string, headers: IncomingHttpHeaders, baseUrl: string | null): void {
  if (safe.has(method)) return;
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const crossSite = origin === undefined && (site === 'cross-site' || site === 'same-site');
  if (crossSite || (origin !== undefined && !isOwn(origin, host, baseUrl))) {
    throw refuse(403, 'requests from other sites are refused');
  }
}

/** Browsers keep a Secure cookie of their own machine over http, too. */
function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/**
 * Why a page at `origin` could not go on if the public address were `baseUrl`; null when it could, and for programs,
 * which have no origin.
 */
export function whyLockedOut(
  { origin, host }: { origin: string | undefined; host: string | undefined },
  baseUrl: string | null,
): string | null {
  if (origin === undefined || !URL.canParse(origin)) return null;
  const { protocol, hostname } = new URL(origin);
  if (!isOwn(origin, host, baseUrl)) return `changes from ${origin}, where you are now, would be refused`;
  const secure = baseUrl?.startsWith('https:') === true;
  if (secure && protocol === 'http:' && !isThisMachine(hostname)) {
    return `nobody could sign in at ${origin}, where you are now, because browsers keep no secure cookie there`;
  }
  return null;
}
