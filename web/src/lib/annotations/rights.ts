import type { Comment } from '@vitrine/contract/comments';
import type { SessionUser } from '@vitrine/contract/identity';
import type { Post } from '@vitrine/contract/posts';
import { mayRemove } from '#lib/comments/rights.ts';
import { allowanceOf, type TeamCapabilities } from '#lib/identity/allowance.ts';

/**
 * Returns whether a user may resolve and assign a comment: those who may delete it, and its assignee. The service checks
 * again. Guests' comments are never resolved or assigned (GUEST-7).
 */
export function mayResolve(
  comment: Comment,
  post: Pick<Post, 'author_user_ref' | 'team_id'>,
  user: SessionUser | null,
  held?: TeamCapabilities,
): boolean {
  if (user === null || comment.guest !== undefined) return false;
  return comment.assignee?.ref === user.ref || mayRemove(comment, post, user, held);
}

/** Returns whether a user may annotate the files of a post that they read, also with comments disabled. */
export function mayAnnotate(user: SessionUser | null): boolean {
  return user !== null && allowanceOf(user, 'posts.comment') === 'held';
}
