import type { Annotation } from '@vitrine/contract/annotations';
import type { Comment } from '@vitrine/contract/comments';
import type { Origin } from '@vitrine/contract/federation';
import type { PostAuthor } from '@vitrine/contract/identity';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { identityJson } from '../../access/identities.ts';

/** Properties that a comment may lack, and are null in its row. */
interface Optional {
  author: PostAuthor;
  remote_display_name: string;
  origin: Origin;
  annotation: Annotation;
  resolved_at: string;
  resolved_by: PostAuthor;
  assignee: PostAuthor;
}

export interface CommentRow extends Omit<Comment, keyof Optional>, Nullable<Optional> {}

type Nullable<T> = { [K in keyof T]: T[K] | null };

/** The library that a comment `c` was written at; the peer is the one that sent it (FED-36). Null for comments made here. */
const originOfComment = sql`case when c.remote_actor_ref is not null then (
  select jsonb_build_object('peer_id', op.id, 'display_name', coalesce(c.relayed_library, op.display_name),
    'instance_url', coalesce(split_part(c.relayed_for, '/users/', 1), op.instance_url), 'author', c.remote_display_name)
    || case when c.relayed_for is null then '{}' else jsonb_build_object('via', op.display_name) end
  from remote_actors ra join federation_peers op on op.id = ra.peer_id where ra.ref = c.remote_actor_ref) end`;

/** What an annotation `c` is about; null for other comments. */
const annotationJson = sql`case when c.annotated_asset_id is not null and c.parent_id is null then (
  select jsonb_build_object('asset_id', c.annotated_asset_id, 'version', n.version, 'anchor', n.anchor)
    || case when n.strokes is null then '{}' else jsonb_build_object('strokes', n.strokes) end
  from annotations n where n.comment_id = c.id) end`;

/** The identity of the account in a column of `c`. */
function accountIn(
  caller: Caller,
  column: 'resolved_by_user_ref' | 'assignee_user_ref',
): RawBuilder<unknown> {
  const ref = sql.ref(`c.${column}`);
  return sql`case when ${ref} is not null then (
    select ${identityJson(caller, 'ru')} from users ru where ru.ref = ${ref}) end`;
}

/** Columns of a comment `c` with its author `users cu`, as the caller sees them. */
export function commentColumns(caller: Caller): RawBuilder<CommentRow> {
  const liked =
    caller.kind === 'anonymous'
      ? sql`false`
      : sql`exists (select from comment_likes l where l.comment_id = c.id and l.user_ref = ${caller.ref})`;
  return sql`c.id, c.post_id, c.parent_id, c.body, c.created_at, c.edited_at,
    ${identityJson(caller, 'cu')} as author, c.remote_display_name, ${originOfComment} as origin, c.like_count, ${liked} as liked, c.reply_count,
    ${annotationJson} as annotation, c.resolved_at, ${accountIn(caller, 'resolved_by_user_ref')} as resolved_by,
    ${accountIn(caller, 'assignee_user_ref')} as assignee`;
}

/** IDENTITY-6: a hidden identity is omitted, never replaced. */
export function showComment(row: CommentRow): Comment {
  const { author, remote_display_name, origin, annotation, resolved_at, resolved_by, assignee, ...comment } =
    row;
  return {
    ...comment,
    ...(author === null ? {} : { author }),
    ...(remote_display_name === null ? {} : { remote_display_name }),
    ...(origin === null ? {} : { origin }),
    ...(annotation === null ? {} : { annotation }),
    ...(resolved_at === null ? {} : { resolved_at }),
    ...(resolved_by === null ? {} : { resolved_by }),
    ...(assignee === null ? {} : { assignee }),
  };
}
