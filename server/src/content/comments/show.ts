import type { Comment } from '@vitrine/contract/comments';
import type { Origin } from '@vitrine/contract/federation';
import type { PostAuthor } from '@vitrine/contract/identity';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { identityJson } from '../../access/identities.ts';

export interface CommentRow extends Omit<Comment, 'author' | 'remote_display_name' | 'origin'> {
  origin: Origin | null;
  author: PostAuthor | null;
  remote_display_name: string | null;
}

/** The library that a comment `c` was written at; the peer is the one that sent it (FED-36). Null for comments made here. */
const originOfComment = sql`case when c.remote_actor_ref is not null then (
  select jsonb_build_object('peer_id', op.id, 'display_name', coalesce(c.relayed_library, op.display_name),
    'instance_url', coalesce(split_part(c.relayed_for, '/users/', 1), op.instance_url), 'author', c.remote_display_name)
    || case when c.relayed_for is null then '{}' else jsonb_build_object('via', op.display_name) end
  from remote_actors ra join federation_peers op on op.id = ra.peer_id where ra.ref = c.remote_actor_ref) end`;

/** Columns of a comment `c` with its author `users cu`, as the caller sees them. */
export function commentColumns(caller: Caller): RawBuilder<CommentRow> {
  const liked =
    caller.kind === 'anonymous'
      ? sql`false`
      : sql`exists (select from comment_likes l where l.comment_id = c.id and l.user_ref = ${caller.ref})`;
  return sql`c.id, c.post_id, c.parent_id, c.body, c.created_at, c.edited_at,
    ${identityJson(caller, 'cu')} as author, c.remote_display_name, ${originOfComment} as origin, c.like_count, ${liked} as liked, c.reply_count`;
}

/** IDENTITY-6: a hidden identity is omitted, never replaced. */
export function showComment({ author, remote_display_name, origin, ...comment }: CommentRow): Comment {
  return {
    ...comment,
    ...(author === null ? {} : { author }),
    ...(remote_display_name === null ? {} : { remote_display_name }),
    ...(origin === null ? {} : { origin }),
  };
}
