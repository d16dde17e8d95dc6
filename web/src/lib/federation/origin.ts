import type { OriginFilter } from '@vitrine/contract/federation';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';

/** A library with which objects can be shared. */
export type Peer = AnswerOf<Operations['listShareablePeers']>['items'][number];

/** Reads the origin filter from an address; ignores an invalid one. */
export function readOrigin(params: Pick<URLSearchParams, 'get'>): { origin?: OriginFilter } {
  const origin = params.get('origin') ?? '';
  if (origin === 'here' || origin === 'peers') return { origin };
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(origin) ? { origin } : {};
}

/** Names a peer, with its host if another peer has the same name. */
export function peerLabel({ id, display_name, instance_url }: Peer, peers: readonly Peer[]): string {
  const namesake = peers.some((other) => other.id !== id && other.display_name === display_name);
  return namesake ? `${display_name} (${new URL(instance_url).host})` : display_name;
}

/** Names an origin filter; a peer that is not connected has no name. */
export function originLabel(origin: OriginFilter, peers: readonly Peer[]): string {
  if (origin === 'here') return 'This library';
  if (origin === 'peers') return 'Other libraries';
  const peer = peers.find(({ id }) => id === origin);
  return peer === undefined ? 'Another library' : peerLabel(peer, peers);
}

/** Returns the choices of an origin filter: none without peers, unless a filter is set. */
export function originChoices(
  peers: readonly Peer[],
  current: OriginFilter | undefined,
): { value: string; label: string }[] {
  if (peers.length === 0 && current === undefined) return [];
  const values: OriginFilter[] = ['here', 'peers', ...(peers.length > 1 ? peers.map(({ id }) => id) : [])];
  if (current !== undefined && !values.includes(current)) values.push(current);
  return [
    { value: '', label: 'All libraries' },
    ...values.map((value) => ({ value, label: originLabel(value, peers) })),
  ];
}
