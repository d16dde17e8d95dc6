import type { Comment } from '@vitrine/contract/comments';
import type { SessionUser } from '@vitrine/contract/identity';
import type { Post } from '@vitrine/contract/posts';
import { allowanceOf, type TeamCapabilities } from '#lib/identity/allowance.ts';
import { mayEdit } from '#lib/posts/rights.ts';

/** Whether a user may comment on a post: `yes`, or the reason why not. The service checks again. */
export type MayWrite = 'yes' | 'sign in' | 'off' | 'draft' | 'not allowed' | 'not known';

export function mayWrite(post: Pick<Post, 'comments_enabled' | 'draft'>, user: SessionUser | null): MayWrite {
  if (!post.comments_enabled) return 'off';
  if (post.draft) return 'draft';
  if (user === null) return 'sign in';
  const allowance = allowanceOf(user, 'posts.comment');
  if (allowance === 'held') return 'yes';
  return allowance === 'unknown' ? 'not known' : 'not allowed';
}

/** Returns whether a user may reply to the annotations of a post, also while it is a draft (ANNOTATION-3). */
export function mayAnswer(post: Pick<Post, 'comments_enabled'>, user: SessionUser | null): boolean {
  return mayWrite({ ...post, draft: false }, user) === 'yes';
}

/** Returns whether the user is the author of a comment, who may edit it. */
export function mayChange(comment: Comment, user: SessionUser | null): boolean {
  return user !== null && comment.author?.ref === user.ref;
}

/** Returns whether a user may delete a comment: its author, and everyone who may edit the post (COMMENT-8). */
export function mayRemove(
  comment: Comment,
  post: Pick<Post, 'author_user_ref' | 'team_id'>,
  user: SessionUser | null,
  held?: TeamCapabilities,
): boolean {
  if (user === null) return false;
  return mayChange(comment, user) || mayEdit(post, user, held);
}
