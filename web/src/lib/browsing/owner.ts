import type { SessionUser } from '@vitrine/contract/identity';

/** Returns the account whose files the address of a timeline asks for; undefined for everyone's. */
export function ownerOfTimeline(
  url: { readonly searchParams: Pick<URLSearchParams, 'get'> },
  user: Pick<SessionUser, 'ref'> | null,
): number | undefined {
  return url.searchParams.get('of') === 'me' ? user?.ref : undefined;
}
