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
  const row = await tx
    .selectFrom('federated_objects')
    .select(['local_id', 'version'])
    .where('uri', '=', uri)
    .where('kind', '=', kind)
    .where('peer_id', '=', peerId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Returns whether the stored version is later than one of this time. Peers write times with any offset and precision, so
 * their spelling has no order.
 */
export function isLater({ version }: Mirrored, updated: string): boolean {
  return Date.parse(version) > Date.parse(updated);
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
  await tx
    .insertInto('federated_objects')
    .values({ uri, peer_id: peerId, kind, local_id: localId, version })
    .onConflict((conflict) =>
      conflict.column('uri').doUpdateSet((eb) => ({ version: eb.ref('excluded.version') })),
    )
    .execute();
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
