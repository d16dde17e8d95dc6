import type { SessionUser } from '@vitrine/contract/identity';
import type { Post } from '@vitrine/contract/posts';
import { holds, holdsIn, type TeamCapabilities } from '#lib/identity/allowance.ts';

type Whose = Pick<Post, 'author_user_ref' | 'team_id' | 'origin'>;

/**
 * Returns whether to show actions that change a post: to its author and to administrators of posts or of its team.
 * The service checks again.
 */
export function mayEdit(post: Whose, user: SessionUser | null, held?: TeamCapabilities): boolean {
  return (
    user !== null &&
    // Mirrored content is changed only at its origin.
    post.origin === undefined &&
    (post.author_user_ref === user.ref || holdsIn(user, held, 'posts.admin', post.team_id))
  );
}

/**
 * Returns whether the answer depends on capabilities in teams: the post has a team and the reader has no other right.
 */
export function dependsOnTeam(post: Whose, user: SessionUser | null): boolean {
  return user !== null && post.team_id !== undefined && !mayEdit(post, user) && !holds(user, 'posts.admin');
}
