import type { SessionUser } from '@vitrine/contract/identity';
import type { Post } from '@vitrine/contract/posts';
import { holds, holdsIn, type TeamCapabilities } from '#lib/identity/allowance.ts';

type Whose = Pick<Post, 'author_user_ref' | 'team_id' | 'origin'>;

/** Whether to show what changes a post: to its author and to who administers posts, or its team's. The service decides again. */
export function mayEdit(post: Whose, user: SessionUser | null, held?: TeamCapabilities): boolean {
  return (
    user !== null &&
    // What a peer shares is changed there.
    post.origin === undefined &&
    (post.author_user_ref === user.ref || holdsIn(user, held, 'posts.admin', post.team_id))
  );
}

/** Whether it takes capabilities in teams to know: it is of a team, and not the reader's to change otherwise. */
export function dependsOnTeam(post: Whose, user: SessionUser | null): boolean {
  return user !== null && post.team_id !== undefined && !mayEdit(post, user) && !holds(user, 'posts.admin');
}
