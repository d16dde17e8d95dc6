import type { SessionUser } from '@vitrine/contract/identity';
import type { ResourceRequest } from '@vitrine/contract/requests';
import { holds } from '#lib/identity/allowance.ts';

/** Which requests: those to decide, one's own, or everybody's. */
export type Queue = 'incoming' | 'mine' | 'all';

export type RequestState = ResourceRequest['state'];

interface Tab {
  readonly queue: Queue;
  readonly label: string;
  /** Said where there is none. */
  readonly empty: string;
}

const own: readonly Tab[] = [
  { queue: 'incoming', label: 'For you to decide', empty: 'Nobody has asked you for anything.' },
  { queue: 'mine', label: 'Asked by you', empty: 'You have asked for nothing.' },
];
const allRequests: Tab = { queue: 'all', label: 'All', empty: 'Nobody has asked for anything.' };

/** The queues somebody may open; everybody's takes share.grant. */
export function tabsFor(user: SessionUser | null): readonly Tab[] {
  return holds(user, 'share.grant') ? [...own, allRequests] : own;
}

/** What a request's state can be narrowed to. */
export const stateChoices: readonly { readonly value: RequestState | ''; readonly label: string }[] = [
  { value: '', label: 'Any' },
  { value: 'pending', label: 'Waiting' },
  { value: 'granted', label: 'Granted' },
  { value: 'denied', label: 'Denied' },
  { value: 'expired', label: 'Ended' },
];

/** The queue an address asks for, among those that may be opened. */
export function readQueue(params: Pick<URLSearchParams, 'get'>, user: SessionUser | null): Queue {
  const asked = params.get('of');
  return tabsFor(user).find(({ queue }) => queue === asked)?.queue ?? 'incoming';
}

/** The state an address narrows to; empty for any. */
export function readState(params: Pick<URLSearchParams, 'get'>): RequestState | '' {
  const asked = params.get('state');
  return stateChoices.find(({ value }) => value === asked)?.value ?? '';
}

/** Where a queue is found. */
export function queueAddress(queue: Queue, state: RequestState | ''): string {
  const params = new URLSearchParams();
  if (queue !== 'incoming') params.set('of', queue);
  if (state !== '') params.set('state', state);
  return params.size === 0 ? '/requests' : `/requests?${params}`;
}
