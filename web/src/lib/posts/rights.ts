import type { SessionUser } from '@vitrine/contract/identity';
import type { Post } from '@vitrine/contract/posts';
import { holds } from '../identity/allowance.ts';

/** Whether to show what changes a post: to its author and to who administers posts. The service decides again. */
export function mayEdit(post: Post, user: SessionUser | null): boolean {
  return user !== null && (post.author_user_ref === user.ref || holds(user, 'posts.admin'));
}
