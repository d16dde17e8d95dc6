/** Whether the client has these bytes already, by the `If-None-Match` it sent (RFC 9110: weak comparison). */
export function hasCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(',').some((one) => [etag, `W/${etag}`, '*'].includes(one.trim())) ?? false;
}
