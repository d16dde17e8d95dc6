import { foldName } from '@vitrine/contract/names';
import type { TagChange } from '@vitrine/contract/tags';
import { type RawBuilder, sql } from 'kysely';
import { registerTags } from '../../core/tag-register.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { writeDocuments, writeDocumentsOfTag } from '../search-index/documents.ts';

export type Rows = Omit<TagChange, 'dry_run' | 'run'>;

/** Accounts whose rail hides or orders the tag. */
function railNames(tag: string): RawBuilder<boolean> {
  return sql`(u.preferences -> 'browse_rail' -> 'hidden_tags' ? ${tag}
    or u.preferences -> 'browse_rail' -> 'tag_order' ? ${tag})`;
}

/**
 * Changes of tags and the steps of runs lock many rows, and therefore go one after the other. Counting in a whole library
 * may take long.
 */
export async function takeTurn(tx: Tx): Promise<void> {
  await sql`select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)`.execute(
    tx,
  );
  await takeLock(tx, 'tagRewrites');
}

/** Counts what would be written, without writing. */
export async function wouldRewrite(tx: Tx, source: string): Promise<Rows> {
  const { rows } = await sql<Rows>`select
    (select count(*) from posts where tags @> array[${source}]) as posts,
    (select count(*) from asset_tags where value = ${source}) as assets,
    (select count(*) from tag_follows where key = ${foldName(source)}) as follows,
    (select count(*) from users u where ${railNames(source)}) as rails,
    (select count(*) from feed_views where query -> 'tag' ? ${source}) as views,
    (select count(*) from saved_searches where query -> 'tag' ? ${source}) as searches,
    (select count(*) from collections where query -> 'tag' ? ${source}) as collections`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('count returned no row');
  return row;
}

/** Counts for many tags what `wouldRewrite` counts for one. The settings of accounts are read once for all. */
export async function wouldRewriteEach(tx: Tx, sources: readonly string[]): Promise<Map<string, Rows>> {
  const { rows } = await sql<Rows & { tag: string }>`
    with asked (tag) as (select unnest(${sources}::text[])),
    rails as (
      select e.tag, count(*) as uses from users u, lateral (
        select jsonb_array_elements_text(u.preferences #> '{browse_rail,hidden_tags}') as tag
        union select jsonb_array_elements_text(u.preferences #> '{browse_rail,tag_order}')) e
      where e.tag = any(${sources}::text[]) group by 1
    ), views as (
      select e.tag, count(*) as uses from feed_views v, lateral (
        select distinct jsonb_array_elements_text(v.query -> 'tag') as tag) e
      where jsonb_typeof(v.query -> 'tag') = 'array' and e.tag = any(${sources}::text[]) group by 1
    ), searches as (
      select e.tag, count(*) as uses from saved_searches s, lateral (
        select distinct jsonb_array_elements_text(s.query -> 'tag') as tag) e
      where jsonb_typeof(s.query -> 'tag') = 'array' and e.tag = any(${sources}::text[]) group by 1
    ), smart as (
      select e.tag, count(*) as uses from collections c, lateral (
        select distinct jsonb_array_elements_text(c.query -> 'tag') as tag) e
      where jsonb_typeof(c.query -> 'tag') = 'array' and e.tag = any(${sources}::text[]) group by 1
    )
    select a.tag,
      (select count(*) from posts where tags @> array[a.tag]) as posts,
      (select count(*) from asset_tags where value = a.tag) as assets,
      (select count(*) from tag_follows where tag = a.tag) as follows,
      coalesce(rails.uses, 0) as rails, coalesce(views.uses, 0) as views, coalesce(searches.uses, 0) as searches,
      coalesce(smart.uses, 0) as collections
    from asked a left join rails on rails.tag = a.tag left join views on views.tag = a.tag
      left join searches on searches.tag = a.tag left join smart on smart.tag = a.tag`.execute(tx);
  return new Map(rows.map(({ tag, ...counts }) => [tag, counts]));
}

/** The rewrite itself maintains the register and the search documents, once for many rows. */
async function suppressTriggers(tx: Tx): Promise<void> {
  await sql`select set_config('vitrine.merging_tags', 'on', true)`.execute(tx);
}

async function counted(tx: Tx, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await statement.execute(tx);
  return Number(numAffectedRows ?? 0);
}

/** Restricts a statement to a step of a run; null for everything. */
function inStep(column: string, ids: string[] | null): RawBuilder<boolean> {
  return ids === null ? sql`true` : sql`${sql.ref(column)} = any(${ids}::uuid[])`;
}

/** The tag keeps its place, or is dropped where the post already has the other. */
function rewritePosts(source: string, target: string, ids: string[] | null): RawBuilder<unknown> {
  return sql`update posts set updated_at = ${nextUpdatedAt}, tags = case when tags @> array[${target}]
      then array_remove(tags, ${source}) else array_replace(tags, ${source}, ${target}) end
    where tags @> array[${source}] and ${inStep('id', ids)}`;
}

/**
 * An asset with both tags keeps one: manual before imported before suggested, and the more confident of two
 * suggestions. Assets are locked before their tags, as edits do.
 */
async function rewriteAssets(tx: Tx, source: string, target: string, ids: string[] | null): Promise<number> {
  await sql`select count(*) from (
    select from assets where id in (select asset_id from asset_tags where value = ${source} and ${inStep('asset_id', ids)})
    order by id for no key update) locked`.execute(tx);
  const { rows } = await sql<{ assets: number }>`
    with taken as (
      delete from asset_tags where value = ${source} and ${inStep('asset_id', ids)} returning *
    ), written as (
      insert into asset_tags (asset_id, value, source, confidence, created_by_provider, created_by_model, position)
      select asset_id, ${target}, source, confidence, created_by_provider, created_by_model, position from taken
      on conflict (asset_id, value) do update set source = excluded.source, confidence = excluded.confidence,
        created_by_provider = excluded.created_by_provider, created_by_model = excluded.created_by_model
      where (array_position(array['manual', 'import', 'ai'], excluded.source), -coalesce(excluded.confidence, 1))
        < (array_position(array['manual', 'import', 'ai'], asset_tags.source), -coalesce(asset_tags.confidence, 1))
    ), moved as (
      update assets set updated_at = ${nextUpdatedAt} where id in (select asset_id from taken)
    )
    select count(*) as assets from taken`.execute(tx);
  return rows[0]?.assets ?? 0;
}

async function rewriteFollows(tx: Tx, source: string, target: string): Promise<number> {
  const [from, to] = [foldName(source), foldName(target)];
  if (from === to) return counted(tx, sql`update tag_follows set tag = ${target} where key = ${from}`);
  const { rows } = await sql<{ follows: number }>`
    with taken as (
      delete from tag_follows where key = ${from} returning user_ref, created_at
    ), written as (
      insert into tag_follows (user_ref, tag, key, created_at)
      select user_ref, ${target}, ${to}, created_at from taken
      on conflict do nothing
    )
    select count(*) as follows from taken`.execute(tx);
  return rows[0]?.follows ?? 0;
}

function rewriteRails(source: string, target: string): RawBuilder<unknown> {
  return sql`update users u set preferences = jsonb_set(jsonb_set(preferences,
      '{browse_rail,hidden_tags}', with_tag_renamed(preferences #> '{browse_rail,hidden_tags}', ${source}, ${target})),
      '{browse_rail,tag_order}', with_tag_renamed(preferences #> '{browse_rail,tag_order}', ${source}, ${target}))
    where ${railNames(source)}`;
}

/** Rewrites stored queries: views of the feed, saved searches and those of smart collections. */
function rewriteKept(table: 'feed_views' | 'saved_searches' | 'collections', source: string, target: string) {
  return sql`update ${sql.table(table)} set
      query = jsonb_set(query, '{tag}', with_tag_renamed(query -> 'tag', ${source}, ${target}))
    where query -> 'tag' ? ${source}`;
}

/**
 * Renames the entry in the register, after posts and assets: a writer of one of those with the new name locks the row
 * first and then waits for the register; the opposite order would deadlock.
 */
async function register(tx: Tx, source: string, target: string): Promise<void> {
  const { rows } = await sql<{ seen: boolean }>`select seen_in_public as seen from tags
    where name = ${source}`.execute(tx);
  // Another spelling of the same tag replaces it.
  if (foldName(source) === foldName(target)) await sql`delete from tags where name = ${source}`.execute(tx);
  await registerTags(tx, [target]);
  if (rows[0]?.seen !== true) return;
  await sql`update tags set seen_in_public = true where name = ${target} and not seen_in_public`.execute(tx);
}

/** Rewrites the settings of accounts, among them their stored queries. */
export async function rewriteAccounts(
  tx: Tx,
  source: string,
  target: string,
): Promise<Omit<Rows, 'posts' | 'assets'>> {
  // Locks accounts before their follows, as following does.
  const rails = await counted(tx, rewriteRails(source, target));
  const follows = await rewriteFollows(tx, source, target);
  const views = await counted(tx, rewriteKept('feed_views', source, target));
  const searches = await counted(tx, rewriteKept('saved_searches', source, target));
  const collections = await counted(tx, rewriteKept('collections', source, target));
  return { follows, rails, views, searches, collections };
}

/** Replaces a tag by another everywhere, shown or in the trash: one statement per kind of row. */
export async function rewriteTag(tx: Tx, source: string, target: string): Promise<Rows> {
  await suppressTriggers(tx);
  const posts = await counted(tx, rewritePosts(source, target, null));
  const assets = await rewriteAssets(tx, source, target, null);
  await register(tx, source, target);
  await writeDocumentsOfTag(tx, target);
  return { posts, assets, ...(await rewriteAccounts(tx, source, target)) };
}

/** Posts and assets of one step of a run. */
export type Step = { kind: 'posts' | 'assets'; ids: string[] };

/** Replaces a tag in these posts or assets, and returns the number that had it. */
export async function rewriteStep(
  tx: Tx,
  source: string,
  target: string,
  { kind, ids }: Step,
): Promise<number> {
  await suppressTriggers(tx);
  let rewritten: number;
  if (kind === 'posts') {
    // In the order in which other writers of many posts lock them.
    await sql`select from posts where id = any(${ids}::uuid[]) order by id for no key update`.execute(tx);
    rewritten = await counted(tx, rewritePosts(source, target, ids));
  } else rewritten = await rewriteAssets(tx, source, target, ids);
  await register(tx, source, target);
  await writeDocuments(tx, kind, ids);
  return rewritten;
}

/** Removes spellings from the register, whose tags have another spelling there. */
export async function unregister(tx: Tx, merged: readonly { from: string; to: string }[]): Promise<void> {
  await sql`with gone as (
      delete from tags t using unnest(${merged.map(({ from }) => from)}::text[], ${merged.map(({ to }) => to)}::text[])
        as n (source, target) where t.name = n.source collate "C" returning n.target, t.seen_in_public
    )
    update tags t set seen_in_public = true
    where not t.seen_in_public and t.name in (select target collate "C" from gone where seen_in_public)`.execute(
    tx,
  );
}

/**
 * Immediately changes what the run does not: the register and the settings of accounts. Returns the counts of changed
 * rows, with those of the posts and assets that the run rewrites.
 */
export async function rewriteKeptTag(tx: Tx, source: string, target: string, counts: Rows): Promise<Rows> {
  await register(tx, source, target);
  return { ...counts, ...(await rewriteAccounts(tx, source, target)) };
}
