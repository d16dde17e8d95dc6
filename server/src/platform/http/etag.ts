/** Whether the client has these bytes already, by the `If-None-Match` it sent (RFC 9110: weak comparison). */
export function hasCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(',').some((one) => [etag, `W/${etag}`, '*'].includes(one.trim())) ?? false;
}

/** Whether a part may be sent: the bytes are those the client has the rest of (RFC 9110, 13.1.5: strong comparison). */
export function isSameForRange(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange === etag;
}
