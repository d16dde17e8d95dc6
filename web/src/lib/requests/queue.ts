import type { SessionUser } from '@vitrine/contract/identity';
import type { ResourceRequest } from '@vitrine/contract/requests';
import { holds } from '#lib/identity/allowance.ts';

/** The queues: requests to decide, the user's own, or everyone's. */
export type Queue = 'incoming' | 'mine' | 'all';

export type RequestState = ResourceRequest['state'];

interface Tab {
  readonly queue: Queue;
  readonly label: string;
  /** The text for an empty list. */
  readonly empty: string;
}

const own: readonly Tab[] = [
  { queue: 'incoming', label: 'For you to decide', empty: 'No requests for you.' },
  { queue: 'mine', label: 'Your requests', empty: 'You have not requested anything.' },
];
const allRequests: Tab = { queue: 'all', label: 'All', empty: 'No requests.' };

/** Returns the queues that a user may open; that with all requests needs share.grant. */
export function tabsFor(user: SessionUser | null): readonly Tab[] {
  return holds(user, 'share.grant') ? [...own, allRequests] : own;
}

/** The filters by state. */
export const stateChoices: readonly { readonly value: RequestState | ''; readonly label: string }[] = [
  { value: '', label: 'Any' },
  { value: 'pending', label: 'Waiting' },
  { value: 'granted', label: 'Granted' },
  { value: 'denied', label: 'Denied' },
  { value: 'expired', label: 'Ended' },
];

/** Returns the queue in an address, if the user may open it. */
export function readQueue(params: Pick<URLSearchParams, 'get'>, user: SessionUser | null): Queue {
  const asked = params.get('of');
  return tabsFor(user).find(({ queue }) => queue === asked)?.queue ?? 'incoming';
}

/** Returns the state filter in an address; empty for any. */
export function readState(params: Pick<URLSearchParams, 'get'>): RequestState | '' {
  const asked = params.get('state');
  return stateChoices.find(({ value }) => value === asked)?.value ?? '';
}

/** Returns the address of a queue. */
export function queueAddress(queue: Queue, state: RequestState | ''): string {
  const params = new URLSearchParams();
  if (queue !== 'incoming') params.set('of', queue);
  if (state !== '') params.set('state', state);
  return params.size === 0 ? '/requests' : `/requests?${params}`;
}
