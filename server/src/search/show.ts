import type { ShownAsset } from '@vitrine/contract/assets';
import type { PostAuthor } from '@vitrine/contract/identity';
import type { Highlight, SearchHit, SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { hidesRestricted } from '../access/assets.ts';
import type { Caller } from '../access/caller.ts';
import { readableCollections } from '../access/collections.ts';
import { liveComment } from '../access/comments.ts';
import { disclosedIdentity, identityJson } from '../access/identities.ts';
import { readableFileName, searchedCollectionValues, searchedValues } from '../access/search.ts';
import { type AssetRow, assetColumns, assetJoins, shownAsset } from '../assets/show.ts';
import { showCollections } from '../collections/show.ts';
import { plainText } from '../fields/values/rich-text.ts';
import type { Rung } from '../media/ladder.ts';
import type { Database } from '../platform/database/pool.ts';
import { showPosts } from '../posts/show.ts';
import { showTags } from '../tags/show.ts';
import type { Hit } from './find.ts';
import { type HighlightTerms, highlight } from './highlight.ts';

/** Number of a post's newest comments that are scanned for a highlight. */
const COMMENTS_READ = 50;

/** Texts of a hit that it does not show itself. */
interface Aside {
  id: string;
  source: 'comment' | 'file_name' | 'field';
  code: string | null;
  label: string | null;
  text: string | null;
}

async function readAssets(
  db: Database,
  caller: Caller,
  ladder: readonly Rung[],
  ids: readonly string[],
): Promise<ShownAsset[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<AssetRow>`select ${assetColumns(caller, ladder)} from assets a ${assetJoins}
    where a.id = any(${ids}::uuid[])`.execute(db);
  // The caller lost access since the hit was found.
  return rows.filter((row) => row.shown).map((row) => shownAsset(caller, row));
}

async function readUsers(db: Database, caller: Caller, ids: readonly string[]): Promise<PostAuthor[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ user: PostAuthor }>`select ${identityJson(caller, 'u')} as user
    from users u where u.ref = any(${ids}::bigint[]) and ${disclosedIdentity(caller, 'u')}`.execute(db);
  return rows.map(({ user }) => user);
}

/** The words of a value `v` of a field `d`, as displayed. */
const wordsOfValue = sql`left(coalesce((select string_agg(t.label, ', ') from field_terms t where t.field_id = d.id
    and t.value = any(coalesce(v.value_options, array[v.value_text]))),
  case when d.type = 'rich_text' then ${plainText} else v.value_text end), 20000)`;

/** Comments of these posts, and names and values of these files: matched texts that the hit does not contain. */
async function readAsides(
  db: Database,
  caller: Caller,
  posts: readonly string[],
  assets: readonly string[],
  collections: readonly string[],
): Promise<Aside[]> {
  const parts: RawBuilder<unknown>[] = [];
  if (posts.length > 0) {
    parts.push(sql`select p.id, 'comment' as source, null as code, null as label, newest.body as text from posts p cross join lateral (
      select c.body from comments c where c.post_id = p.id and ${liveComment}
      order by c.created_at desc, c.id desc limit ${COMMENTS_READ}) newest
      where p.id = any(${posts}::uuid[]) and p.comment_count > 0`);
  }
  if (assets.length > 0) {
    parts.push(sql`select a.id, 'file_name' as source, null as code, null as label, a.file_name as text from assets a
      where a.id = any(${assets}::uuid[]) and ${readableFileName(caller)}`);
  }
  if (assets.length > 0) {
    parts.push(sql`select a.id, 'field' as source, d.code, d.label, ${wordsOfValue}
      from assets a join asset_field_values v on v.asset_id = a.id join fields d on d.id = v.field_id
      where a.id = any(${assets}::uuid[]) and ${searchedValues(caller)}
        and (v.value_text is not null or v.value_options is not null)`);
  }
  if (collections.length > 0) {
    parts.push(sql`select c.id, 'field' as source, d.code, d.label, ${wordsOfValue} as text
      from collections c join collection_field_values v on v.collection_id = c.id join fields d on d.id = v.field_id
      where c.id = any(${collections}::uuid[]) and ${readableCollections(caller)} and ${searchedCollectionValues(caller)}
        and (v.value_text is not null or v.value_options is not null)`);
  }
  if (parts.length === 0) return [];
  const { rows } = await sql<Aside>`${sql.join(parts, sql` union all `)}`.execute(db);
  return rows;
}

type Text = [origin: Omit<Highlight, 'text' | 'ranges'>, text: string];

function highlightsOf(texts: readonly Text[], marks: HighlightTerms | null): Highlight[] {
  if (marks === null) return [];
  return texts.flatMap(([origin, text]) => highlight(origin, text, marks) ?? []).slice(0, 10);
}

/**
 * Returns hits as the caller sees them, in the order found, in a fixed number of statements per kind. Highlights come
 * from what the hit shows the caller, and from readable comments and file names.
 */
export async function showHits(
  db: Database,
  caller: Caller,
  hits: readonly Hit[],
  { ladder, marks }: { ladder: readonly Rung[]; marks: HighlightTerms | null },
): Promise<SearchHit[]> {
  const ids = (kind: SearchKind) => hits.filter((hit) => hit.kind === kind).map((hit) => hit.id);
  const keepRestricted = !hidesRestricted(caller);
  const [posts, assets, users] = await Promise.all([
    showPosts(db, caller, ids('post'), { ladder, keepRestricted }),
    readAssets(db, caller, ladder, ids('asset')),
    readUsers(db, caller, ids('user')),
  ]);
  const [collectionIds, tagNames] = [ids('collection'), ids('tag')];
  const collections =
    collectionIds.length === 0
      ? []
      : await showCollections(
          db,
          caller,
          sql`c.id = any(${collectionIds}::uuid[]) and ${readableCollections(caller)}`,
          sql``,
        );
  const tags =
    tagNames.length === 0
      ? []
      : await showTags(db, caller, sql`t.name = any(${tagNames}::text[] collate "C")`, tagNames.length);
  const asides = marks === null ? [] : await readAsides(db, caller, ids('post'), ids('asset'), collectionIds);
  const shown = new Map<string, SearchHit>();
  const textsBeside = (id: string) =>
    asides
      .filter((aside) => aside.id === id && aside.text !== null)
      .map(({ source, code, label, text }): Text => {
        const field = code === null || label === null ? {} : { field_code: code, field_label: label };
        return [{ source, ...field }, text ?? ''];
      });
  const add = (kind: SearchKind, id: string, hit: SearchHit) => shown.set(`${kind}:${id}`, hit);
  const unplaced = { score: 0, fuzzy: false };
  for (const post of posts) {
    const comment = highlightsOf(textsBeside(post.id), marks).slice(0, 1);
    const texts: Text[] = [
      [{ source: 'title' }, post.title],
      ...post.tags.map((tag): Text => [{ source: 'tags' }, tag]),
      [{ source: 'description' }, post.description],
    ];
    const highlights = [...highlightsOf(texts, marks), ...comment];
    add('post', post.id, { kind: 'post', post, highlights, ...unplaced });
  }
  for (const asset of assets) {
    const texts: Text[] = [
      [{ source: 'title' }, asset.title],
      ...asset.tags.map((tag): Text => [{ source: 'tags' }, tag]),
      [{ source: 'description' }, asset.description],
      ...textsBeside(asset.id),
    ];
    add('asset', asset.id, { kind: 'asset', asset, highlights: highlightsOf(texts, marks), ...unplaced });
  }
  for (const collection of collections) {
    const texts: Text[] = [
      [{ source: 'name' }, collection.name],
      [{ source: 'description' }, collection.description],
      ...textsBeside(collection.id),
    ];
    const highlights = highlightsOf(texts, marks);
    add('collection', collection.id, { kind: 'collection', collection, highlights, ...unplaced });
  }
  for (const user of users) {
    const names = [...new Set([user.display_name, user.username])];
    const highlights = highlightsOf(
      names.map((name): Text => [{ source: 'name' }, name]),
      marks,
    );
    add('user', String(user.ref), { kind: 'user', user, highlights, ...unplaced });
  }
  for (const tag of tags) {
    const highlights = highlightsOf([[{ source: 'name' }, tag.tag]], marks);
    add('tag', tag.tag, { kind: 'tag', tag, highlights, ...unplaced });
  }
  return hits.flatMap(({ kind, id, score, fuzzy }) => {
    const hit = shown.get(`${kind}:${id}`);
    return hit === undefined ? [] : [{ ...hit, score, fuzzy }];
  });
}
