import type { CommentPreview } from '@vitrine/contract/comments';
import type { Origin } from '@vitrine/contract/federation';
import type { PostAuthor } from '@vitrine/contract/identity';
import type { Post, PostMember } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { liveAsset } from '../access/assets.ts';
import type { Caller } from '../access/caller.ts';
import { liveComment } from '../access/comments.ts';
import { identityJson, originJson } from '../access/identities.ts';
import { type AssetRow, assetColumns, assetJoins, shownAsset } from '../assets/show.ts';
import type { Rung } from '../media/ladder.ts';
import type { Columns, Database } from '../platform/database/pool.ts';

/** POST-33. */
const COMMENTS_SHOWN = 3;

interface PreviewRow extends Columns<'comments', 'id' | 'body' | 'created_at' | 'remote_display_name'> {
  author: PostAuthor | null;
}

interface PostRow
  extends Columns<
    'posts',
    | 'id'
    | 'author_user_ref'
    | 'title'
    | 'description'
    | 'visibility'
    | 'cover_asset_id'
    | 'cover_thumbnail_asset_id'
    | 'cover_focal_x'
    | 'cover_focal_y'
    | 'cover_focal_asset_id'
    | 'draft'
    | 'comments_enabled'
    | 'state_id'
    | 'posted_at'
    | 'like_count'
    | 'comment_count'
    | 'tags'
    | 'team_id'
    | 'created_at'
    | 'updated_at'
    | 'deleted_at'
    | 'deleted_reason'
  > {
  author: PostAuthor | null;
  ai_provenance: Post['ai_provenance'];
  liked: boolean;
  comments: PreviewRow[] | null;
  origin: Origin | null;
}

interface MemberRow extends AssetRow {
  post_id: string;
  sort_order: number;
}

/** POST-29, over live members and live cover pictures. Null is undeclared. */
const derivedProvenance = sql`(
  select case
    when bool_or(c.ai_provenance = 'generated') then 'generated'
    when bool_or(c.ai_provenance = 'assisted') then 'assisted'
    when count(*) > 0 and count(*) = count(*) filter (where c.ai_provenance = 'none') then 'none'
  end
  from (
    select a.ai_provenance from post_members m join assets a on a.id = m.asset_id
    where m.post_id = p.id and ${liveAsset}
    union all
    select a.ai_provenance from assets a
    where a.id in (p.cover_asset_id, p.cover_thumbnail_asset_id) and ${liveAsset}
  ) c)`;

function likedBy(caller: Caller) {
  return caller.kind === 'anonymous'
    ? sql`false`
    : sql`exists (select from post_likes l where l.post_id = p.id and l.user_ref = ${caller.ref})`;
}

async function readPosts(db: Database, caller: Caller, ids: readonly string[]): Promise<PostRow[]> {
  const { rows } = await sql<PostRow>`
    select p.id, p.author_user_ref, ${identityJson(caller, 'u')} as author, p.title, p.description, p.visibility,
      p.cover_asset_id, (select a.id from assets a where a.id = p.cover_thumbnail_asset_id and ${liveAsset})
        as cover_thumbnail_asset_id, p.cover_focal_x, p.cover_focal_y, p.cover_focal_asset_id, p.draft, p.comments_enabled,
      p.state_id, ${derivedProvenance} as ai_provenance, p.posted_at, p.like_count, ${likedBy(caller)} as liked,
      p.comment_count, p.tags, p.team_id, ${originJson('p')} as origin, p.created_at, p.updated_at, p.deleted_at, p.deleted_reason,
      case when p.comment_count > 0 then (
        select json_agg(r) from (
          select c.id, c.body, c.created_at, ${identityJson(caller, 'cu')} as author, c.remote_display_name
          from comments c left join users cu on cu.ref = c.author_user_ref
          where c.post_id = p.id and c.parent_id is null and ${liveComment}
          order by c.created_at desc, c.id desc limit ${COMMENTS_SHOWN}
        ) r) end as comments
    from posts p left join users u on u.ref = p.author_user_ref
    where p.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** Returns the members of these posts in order. Omits assets in the trash for everyone (POST-20). */
async function readMembers(
  db: Database,
  caller: Caller,
  ladder: readonly Rung[],
  ids: readonly string[],
): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`
    select m.post_id, m.sort_order, ${assetColumns(caller, ladder)}
    from post_members m join assets a on a.id = m.asset_id ${assetJoins}
    where m.post_id = any(${ids}::uuid[]) and ${liveAsset}
    order by m.post_id, m.sort_order, m.asset_id`.execute(db);
  return rows;
}

/** POST-21: the asset with its columns, or a placeholder with exactly its allowed keys. */
function showMember(caller: Caller, row: MemberRow): PostMember {
  const place = { asset_id: row.asset_id, sort_order: row.sort_order };
  if (row.shown) return { ...place, restricted: false, asset: shownAsset(caller, row) };
  return {
    ...place,
    restricted: true,
    ...(row.owner_name === null ? {} : { owner_display_name: row.owner_name }),
  };
}

/** PostgreSQL writes times in JSON with `+00:00`; the API uses `Z`. */
function showComment(row: PreviewRow): CommentPreview {
  return {
    id: row.id,
    body: row.body,
    created_at: row.created_at.replace('+00:00', 'Z'),
    ...(row.author === null ? {} : { author: row.author }),
    ...(row.remote_display_name === null ? {} : { remote_display_name: row.remote_display_name }),
  };
}

/** POST-26: returns the cover among these members, and its focal point, which belongs to that picture only. */
function coverOf(row: PostRow, members: PostMember[]) {
  const first = members[0]?.asset_id ?? null;
  const chosen = members.some((member) => member.asset_id === row.cover_asset_id)
    ? row.cover_asset_id
    : first;
  const keepsFocal = chosen !== null && chosen === row.cover_focal_asset_id;
  return {
    cover_asset_id: chosen,
    cover_focal_x: keepsFocal ? row.cover_focal_x : null,
    cover_focal_y: keepsFocal ? row.cover_focal_y : null,
  };
}

function showPost(row: PostRow, members: PostMember[]): Post {
  const comments = row.comments ?? [];
  return {
    id: row.id,
    author_user_ref: row.author_user_ref,
    ...(row.author === null ? {} : { author: row.author }),
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    ...coverOf(row, members),
    cover_thumbnail_asset_id: row.cover_thumbnail_asset_id,
    draft: row.draft,
    comments_enabled: row.comments_enabled,
    state_id: row.state_id,
    ai_provenance: row.ai_provenance ?? null,
    posted_at: row.posted_at,
    like_count: row.like_count,
    liked: row.liked,
    comment_count: row.comment_count,
    ...(comments.length === 0 ? {} : { comments_preview: comments.map(showComment) }),
    tags: row.tags,
    members,
    ...(row.team_id === null ? {} : { team_id: row.team_id }),
    ...(row.origin === null ? {} : { origin: row.origin }),
    created_at: row.created_at,
    updated_at: row.updated_at,
    ...(row.deleted_at === null ? {} : { deleted_at: row.deleted_at, deleted_reason: row.deleted_reason }),
  };
}

export interface ShowOptions {
  ladder: readonly Rung[];
  /** Whether withheld members remain as placeholders (POST-22). */
  keepRestricted: boolean;
}

/**
 * Returns the posts with these ids, in this order, as the caller sees them, in two statements. The ids must come from a
 * statement under the read rule; only withheld members are left out here.
 */
export async function showPosts(
  db: Database,
  caller: Caller,
  ids: readonly string[],
  { ladder, keepRestricted }: ShowOptions,
): Promise<Post[]> {
  if (ids.length === 0) return [];
  const [posts, memberRows] = await Promise.all([
    readPosts(db, caller, ids),
    readMembers(db, caller, ladder, ids),
  ]);
  const members = new Map<string, PostMember[]>();
  for (const row of memberRows) {
    if (!row.shown && !keepRestricted) continue;
    const member = showMember(caller, row);
    const list = members.get(row.post_id);
    if (list === undefined) members.set(row.post_id, [member]);
    else list.push(member);
  }
  const shown = new Map(posts.map((row) => [row.id, showPost(row, members.get(row.id) ?? [])]));
  return ids.flatMap((id) => shown.get(id) ?? []);
}
