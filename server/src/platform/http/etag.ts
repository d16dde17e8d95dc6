/** Returns whether the client's `If-None-Match` matches this ETag (RFC 9110: weak comparison). */
export function hasCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(',').some((tag) => [etag, `W/${etag}`, '*'].includes(tag.trim())) ?? false;
}

/** Returns whether a range may be sent: `If-Range` names the same bytes (RFC 9110, 13.1.5: strong comparison). */
export function isSameForRange(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange === etag;
}
