import type { CommentPreview } from '@vitrine/contract/comments';
import type { Origin } from '@vitrine/contract/federation';
import type { PostAuthor } from '@vitrine/contract/identity';
import type { Post, PostMember } from '@vitrine/contract/posts';
import { type RawBuilder, sql } from 'kysely';
import { plainComment } from '../../access/annotations.ts';
import { liveAsset } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { identityJson, originJson } from '../../access/identities.ts';
import { editablePosts } from '../../access/posts.ts';
import { type Columns, timestampOfJson } from '../../platform/database/pool.ts';

/** POST-33. */
export const COMMENTS_SHOWN = 3;

interface PreviewRow extends Columns<'comments', 'id' | 'body' | 'created_at' | 'remote_display_name'> {
  author: PostAuthor | null;
}

export interface PostRow
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
  cover_provenance: Provenance[] | null;
  liked: boolean;
  comments: PreviewRow[] | null;
  origin: Origin | null;
}

/** The provenance of the live cover pictures of a post `p`, which need not be members. */
export const coverProvenance = sql`case when coalesce(p.cover_asset_id, p.cover_thumbnail_asset_id) is not null then array(
  select a.ai_provenance from assets a where a.id in (p.cover_asset_id, p.cover_thumbnail_asset_id) and ${liveAsset}) end`;

/** The cover thumbnail of a post `p`, unless it is in the trash. */
export const liveThumbnail = sql`case when p.cover_thumbnail_asset_id is not null then (
  select a.id from assets a where a.id = p.cover_thumbnail_asset_id and ${liveAsset}) end`;

type Provenance = NonNullable<Post['ai_provenance']> | null;

/** POST-29, over live members and live cover pictures, also withheld ones. Null is undeclared. */
function provenanceOf(declared: readonly Provenance[]): Provenance {
  if (declared.includes('generated')) return 'generated';
  if (declared.includes('assisted')) return 'assisted';
  return declared.length > 0 && declared.every((provenance) => provenance === 'none') ? 'none' : null;
}

/** Whether the caller likes a post `p`. */
export function likedBy(caller: Caller) {
  return caller.kind === 'anonymous'
    ? sql`false`
    : sql`exists (select from post_likes l where l.post_id = p.id and l.user_ref = ${caller.ref})`;
}

/** Columns of PostRow for `posts p` and its author `users u`. */
export function postColumns(caller: Caller): RawBuilder<PostRow> {
  return sql`p.id, p.author_user_ref, ${identityJson(caller, 'u')} as author, p.title, p.description, p.visibility,
      p.cover_asset_id, ${liveThumbnail} as cover_thumbnail_asset_id, p.cover_focal_x, p.cover_focal_y, p.cover_focal_asset_id, p.draft, p.comments_enabled,
      p.state_id, ${coverProvenance} as cover_provenance, p.posted_at, p.like_count, ${likedBy(caller)} as liked,
      p.comment_count, p.tags, p.team_id, ${originJson('p')} as origin, p.created_at, p.updated_at, p.deleted_at, p.deleted_reason,
      case when p.comment_count > 0 then (
        select json_agg(r) from (
          select c.id, c.body, c.created_at, ${identityJson(caller, 'cu')} as author, c.remote_display_name
          from comments c left join users cu on cu.ref = c.author_user_ref
          where c.post_id = p.id and c.parent_id is null and ${plainComment}
          order by c.created_at desc, c.id desc limit ${COMMENTS_SHOWN}
        ) r) end as comments`;
}

/**
 * `any` of these ids. The subquery hides their number from the planner, which would otherwise plan the statement anew
 * for a few ids: for one post this takes eight times as long as running it.
 */
export const anyOf = (ids: readonly string[]) => sql`any(array(select unnest(${ids}::uuid[])))`;

/** POST-21: exactly the allowed keys of a withheld member. */
export function placeholder({
  asset_id,
  sort_order,
  owner_name,
}: {
  asset_id: string;
  sort_order: number;
  owner_name: string | null;
}): PostMember {
  const name = owner_name === null ? {} : { owner_display_name: owner_name };
  return { asset_id, sort_order, restricted: true, ...name };
}

function showComment(row: PreviewRow): CommentPreview {
  return {
    id: row.id,
    body: row.body,
    created_at: timestampOfJson(row.created_at),
    ...(row.author === null ? {} : { author: row.author }),
    ...(row.remote_display_name === null ? {} : { remote_display_name: row.remote_display_name }),
  };
}

/** POST-49: when a post `p` is published by itself, for those who may edit it. */
export const scheduledFor = (caller: Caller): RawBuilder<string | null> =>
  sql`case when p.draft and ${editablePosts(caller)} then (
    select s.publish_at from post_schedules s where s.post_id = p.id) end`;

/** What the parts of a post depend on that are not the same for every caller. */
export type DecisivePost = Pick<
  PostRow,
  | 'cover_asset_id'
  | 'cover_thumbnail_asset_id'
  | 'cover_focal_x'
  | 'cover_focal_y'
  | 'cover_focal_asset_id'
  | 'cover_provenance'
  | 'liked'
> & { publish_at: string | null };

/** A live member as it counts for the parts of its post. */
export interface CountedMember {
  asset_id: string;
  asset_ai_provenance: Provenance;
}

/**
 * The parts of a post that depend on the caller or its members. `given` are the members in the response: the cover is one
 * of them (POST-26), and a focal point belongs to that picture only.
 */
export function callersPost(
  row: DecisivePost,
  given: readonly { asset_id: string }[],
  members: readonly CountedMember[],
) {
  const first = given[0]?.asset_id ?? null;
  const isGiven = given.some(({ asset_id }) => asset_id === row.cover_asset_id);
  const cover = isGiven ? row.cover_asset_id : first;
  const keepsFocal = cover !== null && cover === row.cover_focal_asset_id;
  const declared = members.map(({ asset_ai_provenance }) => asset_ai_provenance);
  return {
    cover_asset_id: cover,
    cover_focal_x: keepsFocal ? row.cover_focal_x : null,
    cover_focal_y: keepsFocal ? row.cover_focal_y : null,
    cover_thumbnail_asset_id: row.cover_thumbnail_asset_id,
    ai_provenance: provenanceOf([...declared, ...(row.cover_provenance ?? [])]),
    liked: row.liked,
    ...(row.publish_at === null ? {} : { publish_at: row.publish_at }),
  };
}

/** The parts of a post that are the same for every caller of a kind, signed in or not. */
export function commonPost(row: PostRow) {
  const comments = row.comments ?? [];
  return {
    id: row.id,
    author_user_ref: row.author_user_ref,
    ...(row.author === null ? {} : { author: row.author }),
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    draft: row.draft,
    comments_enabled: row.comments_enabled,
    state_id: row.state_id,
    posted_at: row.posted_at,
    like_count: row.like_count,
    comment_count: row.comment_count,
    ...(comments.length === 0 ? {} : { comments_preview: comments.map(showComment) }),
    tags: row.tags,
    ...(row.team_id === null ? {} : { team_id: row.team_id }),
    ...(row.origin === null ? {} : { origin: row.origin }),
    created_at: row.created_at,
    updated_at: row.updated_at,
    ...(row.deleted_at === null ? {} : { deleted_at: row.deleted_at, deleted_reason: row.deleted_reason }),
  };
}
