import { fieldTypes } from '@vitrine/contract/field-types';
import type { PostAuthor } from '@vitrine/contract/identity';
import type { Highlight, SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { readableComments } from '../../access/annotations.ts';
import { hidesRestricted } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { readableCollections } from '../../access/collections.ts';
import { ofType } from '../../access/field-values.ts';
import { disclosedIdentity, identityJson } from '../../access/identities.ts';
import { readableFileName, searchedCollectionValues, searchedValues } from '../../access/search.ts';
import type { Deps } from '../../core/deps.ts';
import type { Database } from '../../platform/database/pool.ts';
import { showCollections } from '../collections/show.ts';
import { rulesOf } from '../fields/types/registry.ts';
import { anyOf } from '../posts/show.ts';
import { writtenAssets, writtenPosts } from '../posts/write-page.ts';
import { showTags } from '../tags/show.ts';
import type { Hit } from './cursor.ts';
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

async function readUsers(db: Database, caller: Caller, ids: readonly string[]): Promise<PostAuthor[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ user: PostAuthor }>`select ${identityJson(caller, 'u')} as user
    from users u where u.ref = any(${ids}::bigint[]) and ${disclosedIdentity(caller, 'u')}`.execute(db);
  return rows.map(({ user }) => user);
}

/** The words of a value `v` of a field `d`, as displayed. */
const wordsOfValue = sql`left(case ${sql.join(
  [...Map.groupBy(fieldTypes, (type) => rulesOf[type].searched)].flatMap(([words, types]) =>
    words === null ? [] : [sql`when ${ofType(types)} then ${words}`],
  ),
  sql` `,
)} end, 20000)`;

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
      select c.body from comments c where c.post_id = p.id and ${readableComments(caller)}
      order by c.created_at desc, c.id desc limit ${COMMENTS_READ}) newest
      where p.id = any(${posts}::uuid[])
        and (p.comment_count > 0 or exists (select from post_documents d where d.post_id = p.id and d.gated))`);
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

/** What a post or an asset says of itself. */
interface Named {
  id: string;
  title: string;
  tags: string[];
  description: string;
}

/** Titles, tags and descriptions of posts and assets that the caller is shown, for highlights. */
async function readNamed(
  db: Database,
  posts: readonly string[],
  assets: readonly string[],
): Promise<Map<string, Named>> {
  if (posts.length === 0 && assets.length === 0) return new Map();
  const { rows } = await sql<Named>`
    select p.id, p.title, p.tags, p.description from posts p where p.id = ${anyOf(posts)}
    union all
    select a.id, a.title, array(select t.value from asset_tags t where t.asset_id = a.id order by t.position, t.value),
      a.description
    from assets a where a.id = ${anyOf(assets)}`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

function textsOf(named: Named | undefined): Text[] {
  if (named === undefined) return [];
  return [
    [{ source: 'title' }, named.title],
    ...named.tags.map((tag): Text => [{ source: 'tags' }, tag]),
    [{ source: 'description' }, named.description],
  ];
}

function highlightsOf(texts: readonly Text[], marks: HighlightTerms | null): Highlight[] {
  if (marks === null) return [];
  return texts.flatMap(([origin, text]) => highlight(origin, text, marks) ?? []).slice(0, 10);
}

/**
 * Returns hits as the caller sees them, each as JSON, in the order found, in a fixed number of statements per kind.
 * Posts and assets are serialised only if they have changed. Highlights come from what the hit shows the caller, and
 * from readable comments and file names.
 */
export async function writeHits(
  deps: Pick<Deps, 'db' | 'texts' | 'postTexts' | 'ladder'>,
  caller: Caller,
  hits: readonly Hit[],
  marks: HighlightTerms | null,
): Promise<string[]> {
  const { db } = deps;
  const ids = (kind: SearchKind) => hits.filter((hit) => hit.kind === kind).map((hit) => hit.id);
  const [postIds, assetIds, collectionIds, tagNames] = [
    ids('post'),
    ids('asset'),
    ids('collection'),
    ids('tag'),
  ];
  const [posts, assets, users] = await Promise.all([
    writtenPosts(deps, caller, postIds, !hidesRestricted(caller)),
    writtenAssets(deps, caller, assetIds),
    readUsers(db, caller, ids('user')),
  ]);
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
  const asides = marks === null ? [] : await readAsides(db, caller, postIds, assetIds, collectionIds);
  const named = marks === null ? new Map<string, Named>() : await readNamed(db, postIds, assetIds);
  const asidesOf = Map.groupBy(asides, ({ id }) => id);
  const textsBeside = (id: string): Text[] =>
    (asidesOf.get(id) ?? []).flatMap(({ source, code, label, text }): Text[] => {
      if (text === null) return [];
      const field = code === null || label === null ? {} : { field_code: code, field_label: label };
      return [[{ source, ...field }, text]];
    });
  const shown = new Map<string, { text: string; highlights: Highlight[] }>();
  const add = (kind: SearchKind, id: string, text: string, highlights: Highlight[]) =>
    shown.set(`${kind}:${id}`, { text, highlights });
  for (const [id, text] of posts) {
    const comment = highlightsOf(textsBeside(id), marks).slice(0, 1);
    add('post', id, text, [...highlightsOf(textsOf(named.get(id)), marks), ...comment]);
  }
  for (const [id, text] of assets) {
    add('asset', id, text, highlightsOf([...textsOf(named.get(id)), ...textsBeside(id)], marks));
  }
  for (const collection of collections) {
    const texts: Text[] = [
      [{ source: 'name' }, collection.name],
      [{ source: 'description' }, collection.description],
      ...textsBeside(collection.id),
    ];
    add('collection', collection.id, JSON.stringify(collection), highlightsOf(texts, marks));
  }
  for (const user of users) {
    const names = [...new Set([user.display_name, user.username])];
    const highlights = highlightsOf(
      names.map((name): Text => [{ source: 'name' }, name]),
      marks,
    );
    add('user', String(user.ref), JSON.stringify(user), highlights);
  }
  for (const tag of tags) {
    const highlights = highlightsOf([[{ source: 'name' }, tag.tag]], marks);
    add('tag', tag.tag, JSON.stringify(tag), highlights);
  }
  return hits.flatMap(({ kind, id, score, fuzzy }) => {
    const hit = shown.get(`${kind}:${id}`);
    // The caller lost access since the hit was found.
    if (hit === undefined) return [];
    const highlights = JSON.stringify(hit.highlights);
    return [
      `{"kind":"${kind}","${kind}":${hit.text},"highlights":${highlights},"score":${score},"fuzzy":${fuzzy}}`,
    ];
  });
}
