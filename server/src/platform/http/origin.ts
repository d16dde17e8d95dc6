import type { IncomingHttpHeaders } from 'node:http';
import { refuse } from './refuse.ts';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

/**
 * Refuses a change that another site's page asks for with a visitor's cookie, beside the cookie's SameSite=Lax.
 * Browsers send `Origin` with every unsafe request; programs send none and are let through. The host alone is
 * compared, because a proxy in front may speak https while we do not. `baseUrl` is the public address, if it is set.
 */
export function checkOrigin(method: string, headers: IncomingHttpHeaders, baseUrl: string | null): void {
  if (safe.has(method)) return;
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const crossSite = origin === undefined && (site === 'cross-site' || site === 'same-site');
  const foreign =
    origin !== undefined &&
    hostOf(origin) !== host &&
    (baseUrl === null || hostOf(origin) !== hostOf(baseUrl));
  if (crossSite || foreign) throw refuse(403, 'requests from other sites are refused');
}
