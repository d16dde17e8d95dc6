import type { SetBy } from '@vitrine/contract/field-values';
import { mostTags } from '@vitrine/contract/values';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { disclosedReference } from '../../access/field-values.ts';
import { notifyPeersOfEach } from '../../core/outbox/enqueue.ts';
import { recordEdits } from '../../people/audit/record-edit.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { followContent } from '../approvals/post-content.ts';
import { moveToTrash } from '../assets/delete.ts';
import { readPairs, refusalOfPair } from '../fields/values/pairs.ts';
import { type Definition, definitionColumns } from '../fields/values/rules.ts';
import { storeValue } from '../fields/values/store.ts';
import { storedIn, type ValueColumns } from '../fields/values/typed-value.ts';
import { setByOf } from '../fields/values/write.ts';
import type { Merge } from './groups.ts';
import { moveAccess } from './move-access.ts';
import { moveComments } from './move-comments.ts';

interface ValueRow extends ValueColumns, Definition {
  set_by: SetBy;
}

/** Copies values of fields that the kept asset lacks and the caller may write. Returns the codes of these fields. */
async function addValues(tx: Tx, caller: SignedIn, { keep, remove }: Merge): Promise<string[]> {
  const subject = { kind: 'asset' as const, id: keep };
  const { rows } = await sql<ValueRow>`
    select distinct on (d.id) ${definitionColumns(subject)}, v.value_text, v.value_num, v.value_date, v.value_offset,
      v.value_options, v.value_ref, v.set_by
    from asset_field_values v join fields d on d.id = v.field_id join assets a on a.id = ${keep}
    where v.asset_id = any(${[...remove]}::uuid[])
      and not exists (select from asset_field_values k where k.asset_id = ${keep} and k.field_id = d.id)
      and v.value_ref is distinct from ${keep}::uuid and ${disclosedReference(caller, sql`v.value_ref`)}
    order by d.id, array_position(${[...remove]}::uuid[], v.asset_id)`.execute(tx);
  const pairs = await readPairs(
    tx,
    caller,
    rows.map(({ id }) => ({ assetId: keep, fieldId: id })),
  );
  const byField = new Map([...pairs.values()].map((pair) => [pair.field_id, pair]));
  const added: string[] = [];
  for (const row of rows) {
    const pair = byField.get(row.id);
    const value = storedIn(row);
    if (pair === undefined || value === null || refusalOfPair(row, pair, false) !== null) continue;
    await storeValue(tx, {
      subject,
      fieldId: row.id,
      before: null,
      after: value,
      setBy: setByOf(caller),
      userRef: caller.ref,
    });
    added.push(row.code);
  }
  return added;
}

/**
 * Fills in the title and the description, and adds tags as far as there is room. Returns the names of the properties that
 * changed.
 */
async function addWords(tx: Tx, { keep, remove }: Merge): Promise<string[]> {
  const first = (column: 'title' | 'description') => sql`coalesce(nullif(k.${sql.ref(column)}, ''), (
    select a.${sql.ref(column)} from assets a where a.id = any(${[...remove]}::uuid[]) and a.${sql.ref(column)} <> ''
    order by array_position(${[...remove]}::uuid[], a.id) limit 1), '')`;
  const { rows } = await sql<{ title: boolean; description: boolean }>`
    with before as (select title, description from assets where id = ${keep})
    update assets k set title = ${first('title')}, description = ${first('description')}, updated_at = ${nextUpdatedAt}
    from before where k.id = ${keep}
    returning k.title <> before.title as title, k.description <> before.description as description`.execute(
    tx,
  );
  const { numAffectedRows: tags = 0n } =
    await sql`insert into asset_tags (asset_id, value, source, confidence, created_by_provider, created_by_model, position)
    select ${keep}, n.value, n.source, n.confidence, n.created_by_provider, n.created_by_model,
      n.last + row_number() over (order by n.place, n.position, n.value)
    from (select distinct on (t.value) t.*, array_position(${[...remove]}::uuid[], t.asset_id) as place,
        (select coalesce(max(k.position), -1) from asset_tags k where k.asset_id = ${keep}) as last
      from asset_tags t where t.asset_id = any(${[...remove]}::uuid[])
      order by t.value, place) n
    where not exists (select from asset_tags k where k.asset_id = ${keep} and k.value = n.value)
    order by n.place, n.position, n.value
    limit greatest(0, ${mostTags} - (select count(*) from asset_tags k where k.asset_id = ${keep}))`.execute(
      tx,
    );
  const names = ['title', 'description'] as const;
  return [...names.filter((name) => rows[0]?.[name] === true), ...(tags > 0n ? ['tags'] : [])];
}

/** Records what the kept asset got as an edit of it (AUDIT-1, ASSET-40); values of fields have a history of their own. */
async function recordAdditions(
  tx: Tx,
  caller: SignedIn,
  { keep }: Merge,
  { words, values }: { words: readonly string[]; values: readonly string[] },
): Promise<void> {
  if (words.length + values.length === 0) return;
  const { owner } = await tx
    .selectFrom('assets')
    .select('owner_user_ref as owner')
    .where('id', '=', keep)
    .executeTakeFirstOrThrow();
  const edited = { kind: 'asset' as const, id: keep, owner, properties: words };
  await recordEdits(tx, caller, [edited], [...words, ...values]);
}

/** Puts the kept asset into the posts of the others, in their place. Returns the ids of these posts. */
async function replaceInPosts(tx: Tx, caller: SignedIn, { keep, remove }: Merge): Promise<string[]> {
  const gone = [...remove];
  const { rows } = await sql<{ id: string; owner: number }>`
    select p.id, p.author_user_ref as owner from posts p where p.id in (
        select m.post_id from post_members m where m.asset_id = any(${gone}::uuid[])
        union all select t.id from posts t where t.cover_thumbnail_asset_id = any(${gone}::uuid[]))
    order by p.id for no key update of p`.execute(tx);
  const posts = rows.map(({ id }) => id);
  if (posts.length === 0) return [];
  await sql`insert into post_members (post_id, asset_id, sort_order)
    select m.post_id, ${keep}, min(m.sort_order) from post_members m
    where m.asset_id = any(${gone}::uuid[]) and m.post_id = any(${posts}::uuid[]) group by m.post_id
    on conflict (post_id, asset_id) do nothing`.execute(tx);
  await sql`delete from post_members where asset_id = any(${gone}::uuid[]) and post_id = any(${posts}::uuid[])`.execute(
    tx,
  );
  // A standalone thumbnail must not be a member.
  await sql`update posts p set updated_at = ${nextUpdatedAt},
      cover_asset_id = case when p.cover_asset_id = any(${gone}::uuid[]) then ${keep}::uuid else p.cover_asset_id end,
      cover_focal_asset_id = case when p.cover_focal_asset_id = any(${gone}::uuid[]) then ${keep}::uuid
        else p.cover_focal_asset_id end,
      cover_thumbnail_asset_id = case
        when exists (select from post_members m where m.post_id = p.id and m.asset_id = ${keep})
          then nullif(case when p.cover_thumbnail_asset_id = any(${gone}::uuid[]) then ${keep}::uuid
            else p.cover_thumbnail_asset_id end, ${keep}::uuid)
        when p.cover_thumbnail_asset_id = any(${gone}::uuid[]) then ${keep}::uuid
        else p.cover_thumbnail_asset_id end
    where p.id = any(${posts}::uuid[])`.execute(tx);
  const edited = rows.map((post) => ({ ...post, kind: 'post' as const, properties: [] }));
  await recordEdits(tx, caller, edited, ['members']);
  return posts;
}

/** Puts the kept asset into the collections of the others, in their place. */
async function replaceInCollections(tx: Tx, { keep, remove }: Merge): Promise<void> {
  const gone = [...remove];
  const { rows } = await sql<{ id: string }>`
    select c.id from collections c
    where c.id in (select ca.collection_id from collection_assets ca where ca.asset_id = any(${gone}::uuid[]))
    order by c.id for no key update of c`.execute(tx);
  const collections = rows.map(({ id }) => id);
  if (collections.length === 0) return;
  await sql`with taken as (delete from collection_assets
      where asset_id = any(${gone}::uuid[]) and collection_id = any(${collections}::uuid[])
      returning collection_id, position, added_by)
    insert into collection_assets (collection_id, asset_id, position, added_by)
    select distinct on (t.collection_id) t.collection_id, ${keep}::uuid, t.position, t.added_by from taken t
    order by t.collection_id, t.position
    on conflict (collection_id, asset_id) do nothing`.execute(tx);
}

/** Relates the kept asset to what the others are related to. */
async function moveRelations(tx: Tx, { keep, remove }: Merge): Promise<void> {
  const gone = [...remove];
  await sql`insert into related_assets (asset_id, related_id)
    select distinct least(r.other, ${keep}::uuid), greatest(r.other, ${keep}::uuid)
    from (select related_id as other from related_assets where asset_id = any(${gone}::uuid[])
      union select asset_id from related_assets where related_id = any(${gone}::uuid[])) r
    where r.other <> ${keep}::uuid and r.other <> all(${gone}::uuid[])
    on conflict (asset_id, related_id) do nothing`.execute(tx);
}

/**
 * Merges assets in the caller's transaction, who holds their locks (DUPLICATE-4). What the kept asset has stays; what it
 * lacks is added.
 */
export async function mergeAssets(tx: Tx, caller: SignedIn, merge: Merge): Promise<void> {
  const { keep, remove } = merge;
  const values = await addValues(tx, caller, merge);
  const words = await addWords(tx, merge);
  await recordAdditions(tx, caller, merge, { words, values });
  const posts = await replaceInPosts(tx, caller, merge);
  await followContent(tx, caller, sql`select unnest(${posts}::uuid[])`);
  await replaceInCollections(tx, merge);
  await moveRelations(tx, merge);
  await moveAccess(tx, caller, merge);
  await moveComments(tx, merge, posts);
  await moveToTrash(tx, caller, remove, `merged into ${keep}`);
  await notifyPeersOfEach(tx, 'post', posts, caller.ref);
  await notifyPeersOfEach(tx, 'asset', [keep, ...remove], caller.ref);
}
