import type { HttpFacts } from './bind.ts';

/** Whether the client has this version already (RFC 9110, If-None-Match). */
export function hasVersion(http: HttpFacts, etag: string): boolean {
  const sent = http.header('if-none-match');
  return sent?.split(',').some((one) => [etag, `W/${etag}`, '*'].includes(one.trim())) ?? false;
}
