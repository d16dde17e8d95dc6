import type { QueryKey } from '@tanstack/svelte-query';
import type { Comment } from '@vitrine/contract/comments';

/** The conditions of a list of comments, as `listComments` takes them. */
export interface CommentFilter {
  readonly asset_id?: string;
  readonly resolved?: boolean;
  readonly annotated?: boolean;
  readonly author_ref?: number;
  readonly assignee?: number;
}

/** Returns the conditions of a cached list, whose key is `['comments', postId, filter]`. */
export function filterOf(queryKey: QueryKey): CommentFilter {
  const filter = queryKey[2];
  return typeof filter === 'object' && filter !== null ? filter : {};
}

/** Returns whether a top-level comment belongs to a list with these conditions. */
export function fits(comment: Comment, filter: CommentFilter): boolean {
  return (
    (filter.asset_id === undefined || comment.annotation?.asset_id === filter.asset_id) &&
    (filter.resolved === undefined || (comment.resolved_at !== undefined) === filter.resolved) &&
    (filter.annotated === undefined || (comment.annotation !== undefined) === filter.annotated) &&
    (filter.author_ref === undefined || comment.author?.ref === filter.author_ref) &&
    (filter.assignee === undefined || comment.assignee?.ref === filter.assignee)
  );
}
