import type { Comment } from '@vitrine/contract/comments';
import type { SessionUser } from '@vitrine/contract/identity';
import type { Post } from '@vitrine/contract/posts';
import { allowanceOf, type TeamCapabilities } from '#lib/identity/allowance.ts';
import { mayEdit } from '#lib/posts/rights.ts';

/** Whether somebody may write below a post: `yes`, or why not. The service decides again. */
export type MayWrite = 'yes' | 'sign in' | 'off' | 'draft' | 'not allowed' | 'not known';

export function mayWrite(post: Pick<Post, 'comments_enabled' | 'draft'>, user: SessionUser | null): MayWrite {
  if (!post.comments_enabled) return 'off';
  if (post.draft) return 'draft';
  if (user === null) return 'sign in';
  const allowance = allowanceOf(user, 'posts.comment');
  if (allowance === 'held') return 'yes';
  return allowance === 'unknown' ? 'not known' : 'not allowed';
}

/** A comment is changed by who wrote it. */
export function mayChange(comment: Comment, user: SessionUser | null): boolean {
  return user !== null && comment.author?.ref === user.ref;
}

/** A comment is taken away by who wrote it, and by whoever may change the post (COMMENT-8). */
export function mayRemove(
  comment: Comment,
  post: Pick<Post, 'author_user_ref' | 'team_id'>,
  user: SessionUser | null,
  held?: TeamCapabilities,
): boolean {
  if (user === null) return false;
  return mayChange(comment, user) || mayEdit(post, user, held);
}
