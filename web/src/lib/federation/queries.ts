import type { PeerFieldDecision } from '@vitrine/contract/federated-fields';
import type { PeerShare, PeerShareCreate } from '@vitrine/contract/federation';
import { readToEnd } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** The kinds of objects that can be shared with peers. */
export interface PeerTarget {
  readonly kind: 'post' | 'asset' | 'collection';
  readonly id: string;
}

const operationsOf = {
  post: { list: 'listPostPeers', put: 'putPostPeer', remove: 'deletePostPeer' },
  asset: { list: 'listAssetPeers', put: 'putAssetPeer', remove: 'deleteAssetPeer' },
  collection: { list: 'listCollectionPeers', put: 'putCollectionPeer', remove: 'deleteCollectionPeer' },
} as const;

/** Reads this library's settings and identity as a peer. */
export function federationQuery({ client }: Service) {
  return {
    queryKey: ['admin', 'federation'],
    queryFn: ({ signal }: { signal: AbortSignal }) => client.call('getFederation', { signal }),
    staleTime: readAtEveryVisit,
  };
}

/** Lists the peers with the health of their connections; polls during a pairing. */
export function peersQuery({ client }: Service) {
  return {
    queryKey: ['admin', 'peers'],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      readToEnd((query) => client.call('listPeers', { query, signal })),
    staleTime: readAtEveryVisit,
    refetchInterval: 5000,
  };
}

/** Lists the fields of which a peer has sent values; polls while values are updated after a decision. */
export function peerFieldsQuery({ client }: Service, id: string) {
  return {
    queryKey: ['admin', 'peer-fields', id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      readToEnd((query) => client.call('listPeerFields', { params: { id }, query, signal })),
    staleTime: readAtEveryVisit,
    refetchInterval: 5000,
  };
}

/** Decides how a field of a peer is used. */
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

/** Lists the latest refusals. */
export function rejectionsQuery({ client }: Service) {
  return {
    queryKey: ['admin', 'rejections'],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await client.call('listFederationRejections', { query: { limit: 50 }, signal })).items,
    staleTime: readAtEveryVisit,
  };
}

/** Lists the peers with which objects can be shared. */
export function shareablePeersQuery({ client }: Service) {
  return {
    queryKey: ['peers'],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await client.call('listShareablePeers', { signal })).items,
  };
}

/** Lists the shares of an object by peer, and its content that needs a second confirmation. */
export function peerSharesQuery({ client }: Service, { kind, id }: PeerTarget) {
  return {
    queryKey: ['peer-shares', kind, id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      client.call(operationsOf[kind].list, { params: { id }, signal }),
    staleTime: 0,
  };
}

/** Shares an object with a peer, or with one person or team there. */
export async function shareWithPeer(
  { client, queries }: Service,
  { kind, id }: PeerTarget,
  peerId: string,
  body: PeerShareCreate,
) {
  await client.call(operationsOf[kind].put, { params: { id, peer_id: peerId }, body });
  await queries.invalidateQueries({ queryKey: ['peer-shares', kind, id] });
}

/** Withdraws a share; all shares with the peer if neither a person nor a team is named. */
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
