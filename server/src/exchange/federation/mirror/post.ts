import { sql } from 'kysely';
import { refreshAudience, refreshCollectionAudience } from '../../../access/mirrored-audience.ts';
import { registerTags } from '../../../core/tag-register.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { receiveValues } from '../fields/use.ts';
import type { AaCollection, AaPost } from '../protocol/objects.ts';
import { mirrorAsset } from './asset.ts';
import { checkAtPeer, findMirrored, isLater, rememberMirrored } from './objects.ts';
import { mirrorTeam } from './team.ts';

/**
 * Creates or updates the mirror of a post with its members, by a person of the peer (FED-30). `recipients` are the accounts
 * it was encrypted for; null if it came plain.
 */
export async function mirrorPost(
  tx: Tx,
  peer: { peerId: string; url: string },
  authorRef: number,
  post: AaPost,
  recipients: readonly number[] | null,
): Promise<void> {
  const { peerId } = peer;
  const known = await findMirrored(tx, peerId, 'post', post.id);
  if (known !== null && isLater(known, post.updated)) return;
  const members: string[] = [];
  for (const member of post.members) {
    checkAtPeer(member.id, peer.url);
    members.push(await mirrorAsset(tx, peerId, authorRef, member, { uri: post.id, recipients }));
  }
  const coverIndex = post.members.findIndex(({ id }) => id === post.cover);
  const cover = coverIndex < 0 ? null : (members[coverIndex] ?? null);
  const tags = await registerTags(tx, post.tags);
  const { rows } =
    known === null
      ? await sql<{
          id: string;
        }>`insert into posts (author_user_ref, title, description, visibility, state_id, tags,
            cover_asset_id, posted_at, published_at, origin_peer_id, remote_visibility, remote_comments, comments_enabled)
          values (${authorRef}, ${post.name}, ${post.content}, 'explicit-share',
            (select id from workflow_states where domain = 'post' and code = 'published'), ${tags}::text[],
            ${cover}, least(${post.published}::timestamptz, now()), least(${post.published}::timestamptz, now()),
            ${peerId}, ${post.visibility}, ${post.commentsEnabled}, false)
          returning id`.execute(tx)
      : await sql<{ id: string }>`update posts set title = ${post.name}, description = ${post.content},
            tags = ${tags}::text[], cover_asset_id = ${cover}, remote_visibility = ${post.visibility},
            remote_comments = ${post.commentsEnabled}, updated_at = now()
          where id = ${known.local_id} returning id`.execute(tx);
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('a mirrored post was not stored');
  await rememberMirrored(tx, peerId, 'post', post.id, id, post.updated);
  const team = await mirrorTeam(tx, peerId, post.team);
  await tx
    .updateTable('posts')
    .set({ team_id: team })
    .where('id', '=', id)
    .where('team_id', 'is distinct from', team)
    .execute();
  await sql`delete from post_members where post_id = ${id} and asset_id <> all(${members}::uuid[])`.execute(
    tx,
  );
  await sql`insert into post_members (post_id, asset_id, sort_order)
    select ${id}, m.asset_id, m.place - 1 from unnest(${members}::uuid[]) with ordinality as m (asset_id, place)
    on conflict (post_id, asset_id) do update set sort_order = excluded.sort_order`.execute(tx);
  // A collection may have arrived before its posts.
  await sql`insert into collection_posts (collection_id, post_id, position, added_by)
    select i.collection_id, ${id}, (i.position + 1)::bigint * ${2 ** 32}::bigint, c.owner_user_ref
    from federated_collection_items i join collections c on c.id = i.collection_id
    where i.uri = ${post.id} and c.origin_peer_id = ${peerId} on conflict do nothing`.execute(tx);
  await refreshAudience(tx, peerId, [id]);
}

/** Creates or updates the mirror of a collection and the list of its posts. */
export async function mirrorCollection(
  tx: Tx,
  peer: { peerId: string; url: string },
  ownerRef: number,
  collection: AaCollection,
): Promise<void> {
  const { peerId } = peer;
  const known = await findMirrored(tx, peerId, 'collection', collection.id);
  if (known !== null && isLater(known, collection.updated)) return;
  const rows =
    known === null
      ? await tx
          .insertInto('collections')
          .values({
            owner_user_ref: ownerRef,
            name: collection.name,
            description: collection.content,
            visibility: 'explicit-share',
            origin_peer_id: peerId,
          })
          .returning('id')
          .execute()
      : await tx
          .updateTable('collections')
          .set({ name: collection.name, description: collection.content, updated_at: sql<string>`now()` })
          .where('id', '=', known.local_id)
          .returning('id')
          .execute();
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('a mirrored collection was not stored');
  await rememberMirrored(tx, peerId, 'collection', collection.id, id, collection.updated);
  await receiveValues(tx, peerId, collection.id, { kind: 'collection', id }, collection.fields);
  await tx.deleteFrom('federated_collection_items').where('collection_id', '=', id).execute();
  await sql`insert into federated_collection_items (collection_id, uri, position)
    select ${id}, i.uri, min(i.place) - 1 from unnest(${collection.items}::text[]) with ordinality as i (uri, place)
    group by i.uri`.execute(tx);
  await tx.deleteFrom('collection_posts').where('collection_id', '=', id).execute();
  await sql`insert into collection_posts (collection_id, post_id, position, added_by)
    select ${id}, o.local_id, (i.position + 1)::bigint * ${2 ** 32}::bigint, ${ownerRef}
    from federated_collection_items i join federated_objects o on o.uri = i.uri and o.kind = 'post' and o.peer_id = ${peerId}
    where i.collection_id = ${id}`.execute(tx);
  await refreshCollectionAudience(tx, peerId, collection.id);
}
