import { sql } from 'kysely';
import type { Tx } from '../../../platform/database/pool.ts';
import type { RemoteActor } from '../actors.ts';
import type { AaAsset, AaCollection, AaPost } from '../protocol/objects.ts';

const kinds = { 'aa:Post': 'post', 'aa:Asset': 'asset', 'aa:Collection': 'collection' } as const;
const tables = { post: sql`posts`, asset: sql`assets`, collection: sql`collections` };
const owners = { post: sql`author_user_ref`, asset: sql`owner_user_ref`, collection: sql`owner_user_ref` };

/**
 * Gives a mirrored post, asset or collection the owner that its library names, to whom it may have been transferred
 * (FED-30). Members of a post that belonged to its former author move, too. An owner who signs changes nothing: libraries let
 * the signer stand for an owner whose account is gone, and that owner stays here.
 */
export async function followOwner(
  tx: Tx,
  peerId: string,
  { type, id: uri }: AaPost | AaAsset | AaCollection,
  { owner, actor }: { owner: RemoteActor; actor: RemoteActor },
): Promise<void> {
  if (owner.uri === actor.uri) return;
  const kind = kinds[type];
  const [table, column] = [tables[kind], owners[kind]];
  await sql`with former as (
      select t.id, t.${column} as ref from ${table} t join federated_objects o on o.local_id = t.id
      where o.kind = ${kind} and o.peer_id = ${peerId} and o.uri = ${uri} and t.${column} <> ${owner.ref}),
    members as (
      update assets a set owner_user_ref = ${owner.ref} from former f join post_members m on m.post_id = f.id
      where a.id = m.asset_id and a.origin_peer_id = ${peerId} and a.owner_user_ref = f.ref)
    update ${table} t set ${column} = ${owner.ref} from former f where t.id = f.id`.execute(tx);
}
