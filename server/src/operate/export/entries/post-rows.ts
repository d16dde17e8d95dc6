import { type RawBuilder, sql } from 'kysely';
import {
  type Extent,
  exportedAssets,
  exportedContributions,
  exportedPosts,
} from '../../../access/exports.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { assetPath, type Named } from '../bag/names.ts';
import { isAlike } from './asset-rows.ts';

/** Posts read at a time, with all their comments. */
const PAGE = 50;

/** A person as an export names them. */
export interface ExportedPerson {
  username: string | null;
  name: string;
}

export interface ExportedComment {
  id: string;
  parent_id: string | null;
  author: ExportedPerson | null;
  body: string;
  created_at: string;
  edited_at: string | null;
  resolved_at: string | null;
  annotation: { asset_id: string; version: number; anchor: unknown; strokes: unknown } | null;
}

/** A file of a post or a collection; `path` is where the export has it. */
export interface ExportedMember {
  asset_id: string;
  title: string | null;
  path: string | null;
  is_picture: boolean;
}

interface ExportedWhiteboard {
  id: string;
  title: string;
  author: ExportedPerson | null;
  strokes: unknown;
  created_at: string;
}

export interface PostRow extends Named {
  title: string;
  description: string;
  author: ExportedPerson | null;
  visibility: string;
  draft: boolean;
  team: string | null;
  tags: string[];
  posted_at: string;
  published_at: string | null;
  updated_at: string;
  deleted_at: string | null;
  like_count: number;
  comments_enabled: boolean;
  members: ExportedMember[];
  comments: ExportedComment[];
  whiteboards: ExportedWhiteboard[];
}

/** Names of a member, as long as the export has it. */
export interface MemberRow {
  asset_id: string;
  named: (Named & { file_name: string; title: string; mime: string }) | null;
}

/** Returns a member with the path of its file in the export. */
export function showMember({ asset_id, named }: MemberRow): ExportedMember {
  if (named === null) return { asset_id, title: null, path: null, is_picture: false };
  return {
    asset_id,
    title: named.title === '' ? named.file_name : named.title,
    path: assetPath(named),
    is_picture: /^image\/(?:jpeg|png|gif|webp|avif|svg\+xml)$/.test(named.mime),
  };
}

/** An asset `a` with its file `f` as JSON. */
export const namedJson = sql`json_build_object('id', a.id, 'is_alike', ${isAlike('assets', 'a')}, 'created_at', a.created_at,
  'file_name', a.file_name, 'title', a.title, 'mime', f.mime)`;

/** The name of the account with this ref as JSON; null if there is none. */
export function personJson(ref: RawBuilder<unknown>): RawBuilder<ExportedPerson | null> {
  return sql<ExportedPerson | null>`(select json_build_object('username', u.username,
    'name', coalesce(nullif(u.display_name, ''), nullif(u.fullname, ''), u.username)) from users u where u.ref = ${ref})`;
}

function members(extent: Extent): RawBuilder<MemberRow[]> {
  return sql<MemberRow[]>`(select coalesce(json_agg(json_build_object('asset_id', m.asset_id, 'named',
      (select ${namedJson} from assets a join files f on f.hash = a.file_hash
        where a.id = m.asset_id and ${exportedAssets(extent)})) order by m.sort_order, m.asset_id), '[]')
    from post_members m where m.post_id = p.id)`;
}

/** Comments of people and of guests, oldest first. */
function comments(extent: Extent): RawBuilder<ExportedComment[]> {
  const ofGuests =
    extent.kind === 'person'
      ? sql``
      : sql`union all select gc.id, null, json_build_object('username', null, 'name', g.name), gc.body, gc.created_at, null,
          null, gc.asset_id, gc.version, gc.anchor::jsonb, gc.strokes::jsonb
        from guest_comments gc join link_guests g on g.id = gc.guest_id
        where gc.post_id = p.id and gc.deleted_at is null`;
  return sql<
    ExportedComment[]
  >`(select coalesce(json_agg(json_build_object('id', x.id, 'parent_id', x.parent_id,
      'author', x.author, 'body', x.body, 'created_at', x.created_at, 'edited_at', x.edited_at,
      'resolved_at', x.resolved_at, 'annotation', case when x.anchor is not null then json_build_object(
        'asset_id', x.asset_id, 'version', x.version, 'anchor', x.anchor, 'strokes', x.strokes) end)
      order by x.created_at, x.id), '[]')
    from (select c.id, c.parent_id, coalesce(${personJson(sql`c.author_user_ref`)},
        case when c.remote_display_name is not null
          then json_build_object('username', null, 'name', c.remote_display_name) end) as author,
        c.body, c.created_at, c.edited_at, c.resolved_at, c.annotated_asset_id as asset_id, n.version,
        n.anchor::jsonb as anchor, n.strokes::jsonb as strokes
      from comments c left join annotations n on n.comment_id = c.id
      where c.post_id = p.id and c.deleted_at is null and ${exportedContributions(extent, sql`c.author_user_ref`)}
      ${ofGuests}) x)`;
}

function whiteboards(extent: Extent): RawBuilder<ExportedWhiteboard[]> {
  return sql<ExportedWhiteboard[]>`(select coalesce(json_agg(json_build_object('id', w.id, 'title', w.title,
      'author', ${personJson(sql`w.author_user_ref`)}, 'strokes', w.strokes, 'created_at', w.created_at)
      order by w.created_at, w.id), '[]')
    from whiteboards w where w.post_id = p.id and ${exportedContributions(extent, sql`w.author_user_ref`)})`;
}

/** Yields the posts of an export in the order of their ids. */
export async function* readPosts(db: Database, extent: Extent): AsyncGenerator<PostRow> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await sql<Omit<PostRow, 'members'> & { members: MemberRow[] }>`
      select p.id, ${isAlike('posts', 'p')} as is_alike, p.created_at, p.title, p.description,
        ${personJson(sql`p.author_user_ref`)} as author, p.visibility, p.draft,
        (select t.name from teams t where t.id = p.team_id) as team, p.tags, p.posted_at, p.published_at, p.updated_at,
        p.deleted_at, p.like_count, p.comments_enabled, ${members(extent)} as members, ${comments(extent)} as comments,
        ${whiteboards(extent)} as whiteboards
      from posts p where p.id > ${after} and ${exportedPosts(extent)} order by p.id limit ${PAGE}`.execute(
      db,
    );
    for (const row of rows) yield { ...row, members: row.members.map(showMember) };
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.id;
  }
}
