import type { IncomingHttpHeaders } from 'node:http';
import { type Sentence, sentence } from '../language/sentence.ts';
import { refuse } from './refuse.ts';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

/**
 * Returns whether the origin is this host or the public address. Compares the host only, because a proxy may terminate
 * https.
 */
function isOwn(origin: string, host: string | undefined, baseUrl: string | null): boolean {
  return hostOf(origin) === host || (baseUrl !== null && hostOf(origin) === hostOf(baseUrl));
}

/**
 * Refuses a change that a page of another site requests with a visitor's cookie, in addition to SameSite=Lax. Browsers
 * send `Origin` with every unsafe request; programs send none and pass. `baseUrl` is the public address, if set.
 */
export function checkOrigin(method: string, headers: IncomingHttpHeaders, baseUrl: string | null): void {
  if (safe.has(method)) return;
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const crossSite = origin === undefined && (site === 'cross-site' || site === 'same-site');
  if (crossSite || (origin !== undefined && !isOwn(origin, host, baseUrl))) {
    throw refuse('cross-site-request');
  }
}

/** Browsers keep a Secure cookie for localhost over http, too. */
function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/**
 * Returns why a page at `origin` would stop working if the public address were `baseUrl`; null if it would not, and for
 * programs, which have no origin.
 */
export function whyLockedOut(
  { origin, host }: { origin: string | undefined; host: string | undefined },
  baseUrl: string | null,
): Sentence | null {
  if (origin === undefined || !URL.canParse(origin)) return null;
  const { protocol, hostname } = new URL(origin);
  if (!isOwn(origin, host, baseUrl))
    return sentence('requests from your current address {origin} would be refused', { origin });
  const secure = baseUrl?.startsWith('https:') === true;
  if (secure && protocol === 'http:' && !isThisMachine(hostname)) {
    return sentence(
      'nobody could sign in at your current address {origin}, because browsers do not keep a secure cookie there',
      { origin },
    );
  }
  return null;
}
