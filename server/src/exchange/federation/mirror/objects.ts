import { sql } from 'kysely';
import type { Tx } from '../../../platform/database/pool.ts';
import { parseObjectUri } from '../protocol/addresses.ts';
import { Rejection } from '../protocol/rejection.ts';

export type MirroredKind = 'post' | 'asset' | 'collection' | 'comment' | 'team';

/** A mirrored row and its stored version. */
export interface Mirrored {
  local_id: string;
  version: string;
}

/** Returns the local row that mirrors this address, locked; null if there is none. */
export async function findMirrored(
  tx: Tx,
  peerId: string,
  kind: MirroredKind,
  uri: string,
): Promise<Mirrored | null> {
  const { rows } = await sql<Mirrored>`select local_id, version from federated_objects
    where uri = ${uri} and kind = ${kind} and peer_id = ${peerId} for no key update`.execute(tx);
  return rows[0] ?? null;
}

/** Records which local row mirrors an address, and its version. */
export async function rememberMirrored(
  tx: Tx,
  peerId: string,
  kind: MirroredKind,
  uri: string,
  localId: string,
  version: string,
): Promise<void> {
  await sql`insert into federated_objects (uri, peer_id, kind, local_id, version)
    values (${uri}, ${peerId}, ${kind}, ${localId}, ${version})
    on conflict (uri) do update set version = excluded.version`.execute(tx);
}

/** Throws Rejection unless the address belongs to the peer, which may change only its own objects. */
export function checkAtPeer(uri: string, peerUrl: string): void {
  if (parseObjectUri(uri)?.base !== peerUrl)
    throw new Rejection('unknown_object', 'the object belongs to another install');
}

/** Returns whether a grant of the peer covers this address, directly or through a collection. */
export async function isGranted(tx: Tx, peerId: string, uri: string): Promise<boolean> {
  const { rows } = await sql<{ granted: boolean }>`select exists (
      select from federation_grants g where g.peer_id = ${peerId} and g.uri = ${uri}
        and (g.expires_at is null or g.expires_at > now()))
    or exists (
      select from federated_collection_items i
        join federated_objects o on o.kind = 'collection' and o.local_id = i.collection_id and o.peer_id = ${peerId}
        join federation_grants g on g.peer_id = o.peer_id and g.uri = o.uri
      where i.uri = ${uri} and (g.expires_at is null or g.expires_at > now())) as granted`.execute(tx);
  return rows[0]?.granted === true;
}
