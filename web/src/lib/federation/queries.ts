import type { PeerFieldDecision } from '@vitrine/contract/federated-fields';
import type { PeerShare, PeerShareCreate } from '@vitrine/contract/federation';
import { readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** What can be shared with peers. */
export interface PeerTarget {
  readonly kind: 'post' | 'asset' | 'collection';
  readonly id: string;
}

const operationsOf = {
  post: { list: 'listPostPeers', put: 'putPostPeer', remove: 'deletePostPeer' },
  asset: { list: 'listAssetPeers', put: 'putAssetPeer', remove: 'deleteAssetPeer' },
  collection: { list: 'listCollectionPeers', put: 'putCollectionPeer', remove: 'deleteCollectionPeer' },
} as const;

/** This library as its peers know it. */
export function federationQuery({ client }: Service) {
  return {
    queryKey: ['admin', 'federation'],
    queryFn: ({ signal }: { signal: AbortSignal }) => client.call('getFederation', { signal }),
    staleTime: 0,
  };
}

/** Every peer, with the health of its connection; read again while a pairing is under way. */
export function peersQuery({ client }: Service) {
  return {
    queryKey: ['admin', 'peers'],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      readToEnd((query) => client.call('listPeers', { query, signal })),
    staleTime: 0,
    refetchInterval: 5000,
  };
}

/** The fields that a peer has sent values of; read again while values follow a decision. */
export function peerFieldsQuery({ client }: Service, id: string) {
  return {
    queryKey: ['admin', 'peer-fields', id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      readToEnd((query) => client.call('listPeerFields', { params: { id }, query, signal })),
    staleTime: 0,
    refetchInterval: 5000,
  };
}

/** Decides what becomes of a field of a peer. */
export async function decideField(
  { client, queries }: Service,
  id: string,
  code: string,
  body: PeerFieldDecision,
) {
  await client.call('decidePeerField', { params: { id, code }, body });
  await queries.invalidateQueries();
}

/** Withdraws the decision about a field of a peer. */
export async function resetField({ client, queries }: Service, id: string, code: string) {
  await client.call('resetPeerField', { params: { id, code } });
  await queries.invalidateQueries();
}

/** The latest refusals. */
export function rejectionsQuery({ client }: Service) {
  return {
    queryKey: ['admin', 'rejections'],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await client.call('listFederationRejections', { query: { limit: 50 }, signal })).items,
    staleTime: 0,
  };
}

/** The peers that anything can be shared with. */
export function shareablePeersQuery({ client }: Service) {
  return {
    queryKey: ['peers'],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await client.call('listShareablePeers', { signal })).items,
  };
}

/** The shares of a thing, by peer, and what of it needs a second confirmation. */
export function peerSharesQuery({ client }: Service, { kind, id }: PeerTarget) {
  return {
    queryKey: ['peer-shares', kind, id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      client.call(operationsOf[kind].list, { params: { id }, signal }),
    staleTime: 0,
  };
}

/** Shares a thing with a peer, or with one person there. */
export async function shareWithPeer(
  { client, queries }: Service,
  { kind, id }: PeerTarget,
  peerId: string,
  body: PeerShareCreate,
) {
  await client.call(operationsOf[kind].put, { params: { id, peer_id: peerId }, body });
  await queries.invalidateQueries({ queryKey: ['peer-shares', kind, id] });
}

/** Withdraws a share; everything at the peer when neither a person nor a team is named. */
export async function stopSharing(
  { client, queries }: Service,
  { kind, id }: PeerTarget,
  peerId: string,
  { person, team }: Pick<PeerShare, 'person' | 'team'>,
) {
  await client.call(operationsOf[kind].remove, {
    params: { id, peer_id: peerId },
    query: { ...(person === null ? {} : { person }), ...(team === null ? {} : { team: team.address }) },
  });
  await queries.invalidateQueries({ queryKey: ['peer-shares', kind, id] });
}
