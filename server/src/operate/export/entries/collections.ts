import { sql } from 'kysely';
import { type Extent, exportedAssets, exportedCollections, exportedPosts } from '../../../access/exports.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { escapeHtml } from '../../../platform/escape-html.ts';
import type { Entry } from '../bag/entry.ts';
import { type Named, pagePath } from '../bag/names.ts';
import { type ExportedValue, isAlike, showValues, valuesColumn } from './asset-rows.ts';
import { aboutLine, linkTo, memberHtml, nameOf, pageEnd, pageHead, paragraph } from './html.ts';
import {
  type ExportedMember,
  type ExportedPerson,
  type MemberRow,
  namedJson,
  personJson,
  showMember,
} from './post-rows.ts';
import { jsonText } from './posts.ts';

/** Collections read at a time, with all their items. */
const PAGE = 20;

interface ItemRow extends MemberRow {
  post_id: string | null;
  post: (Named & { title: string }) | null;
}

type ExportedItem = ExportedMember | { post_id: string; title: string | null; path: string | null };

interface CollectionRow extends Named {
  name: string;
  description: string;
  owner: ExportedPerson | null;
  visibility: string;
  updated_at: string;
  deleted_at: string | null;
  query: unknown;
  values: Parameters<typeof showValues>[0];
  items: ItemRow[];
}

function showItem({ post_id: postId, post, ...member }: ItemRow): ExportedItem {
  if (postId === null) return showMember(member);
  const page = post === null ? null : `${pagePath('posts', post)}.html`;
  return { post_id: postId, title: post === null ? null : post.title, path: page };
}

function itemHtml(item: ExportedItem, page: string): string {
  if ('asset_id' in item) return memberHtml(item, page);
  if (item.path === null) return '<p class="about">A post that is not part of this export.</p>\n';
  return `<p><a href="${escapeHtml(linkTo(item.path, page))}">${escapeHtml(item.title || 'Untitled')}</a></p>\n`;
}

/** Yields each collection as JSON and as a page. */
export async function* collectionEntries(db: Database, extent: Extent): AsyncGenerator<Entry> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await sql<CollectionRow>`
      select c.id, ${isAlike('collections', 'c')} as is_alike, c.created_at, c.name, c.description,
        ${personJson(sql`c.owner_user_ref`)} as owner, c.visibility, c.updated_at, c.deleted_at, c.query,
        ${valuesColumn(extent, 'collection')} as values,
        (select coalesce(json_agg(json_build_object('asset_id', i.asset_id, 'post_id', i.post_id,
            'named', (select ${namedJson} from assets a join files f on f.hash = a.file_hash
              where a.id = i.asset_id and ${exportedAssets(extent)}),
            'post', (select json_build_object('id', p.id, 'is_alike', ${isAlike('posts', 'p')}, 'created_at', p.created_at,
              'title', p.title) from posts p where p.id = i.post_id and ${exportedPosts(extent)}))
            order by i.position, i.asset_id, i.post_id), '[]')
          from (select ca.position, ca.asset_id, null::uuid as post_id from collection_assets ca where ca.collection_id = c.id
            union all select cp.position, null, cp.post_id from collection_posts cp where cp.collection_id = c.id) i) as items
      from collections c where c.id > ${after} and ${exportedCollections(extent)} order by c.id limit ${PAGE}`.execute(
      db,
    );
    for (const row of rows) yield* entriesOf(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.id;
  }
}

function* entriesOf({ is_alike, items, values, ...collection }: CollectionRow): Generator<Entry> {
  const path = pagePath('collections', { ...collection, is_alike, title: collection.name });
  const shown = items.map(showItem);
  const fields: ExportedValue[] = showValues(values);
  const key = `6 collections/${collection.id}`;
  const text = jsonText({ ...collection, fields, items: shown });
  yield { key: `${key}/1`, path: `${path}.json`, content: { kind: 'text', text } };
  const page = `${path}.html`;
  const about = aboutLine([nameOf(collection.owner), collection.created_at, collection.visibility]);
  const list = shown.map((item) => itemHtml(item, page)).join('');
  const html = `${pageHead(collection.name)}${about}${paragraph(collection.description)}${list}${pageEnd}`;
  yield { key: `${key}/2`, path: page, content: { kind: 'text', text: html } };
}
