import type { Comment } from '@vitrine/contract/comments';
import type { PostAuthor } from '@vitrine/contract/identity';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { identityJson } from '../access/identities.ts';

export interface CommentRow extends Omit<Comment, 'author' | 'remote_display_name'> {
  author: PostAuthor | null;
  remote_display_name: string | null;
}

/** Columns of a comment `c` with its author `users cu`, as the caller sees them. */
export function commentColumns(caller: Caller): RawBuilder<CommentRow> {
  const liked =
    caller.kind === 'anonymous'
      ? sql`false`
      : sql`exists (select from comment_likes l where l.comment_id = c.id and l.user_ref = ${caller.ref})`;
  return sql`c.id, c.post_id, c.parent_id, c.body, c.created_at, c.edited_at,
    ${identityJson(caller, 'cu')} as author, c.remote_display_name, c.like_count, ${liked} as liked, c.reply_count`;
}

/** IDENTITY-6: a hidden identity is omitted, never replaced. */
export function showComment({ author, remote_display_name, ...comment }: CommentRow): Comment {
  return {
    ...comment,
    ...(author === null ? {} : { author }),
    ...(remote_display_name === null ? {} : { remote_display_name }),
  };
}
