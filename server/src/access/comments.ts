import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, teamsWith } from './caller.ts';
import { live } from './live.ts';

/**
 * A reader of a post reads all its comments that are not deleted (POST-33). Predicates refer to `comments c` and its
 * post `posts p`.
 */
type Predicate = RawBuilder<boolean>;

export const liveComment: Predicate = live('c');

/** Only its author may edit a comment. */
export function editableComments(caller: Caller): Predicate {
  return caller.kind === 'anonymous' ? sql`false` : sql`(c.author_user_ref = ${caller.ref})`;
}

/**
 * COMMENT-8: a comment or whiteboard is removed by its author, the post's author and `posts.admin`. `contribution` is
 * the alias of its row.
 */
function removable(caller: Caller, contribution: 'c' | 'w'): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  if (holds(caller, 'posts.admin')) return sql`true`;
  const teams = teamsWith(caller, 'posts.admin');
  const inTeams = teams.length === 0 ? sql`` : sql` or p.team_id = any(${teams}::uuid[])`;
  const author = sql.ref(`${contribution}.author_user_ref`);
  return sql`(${author} = ${caller.ref} or p.author_user_ref = ${caller.ref}${inTeams})`;
}

export function deletableComments(caller: Caller): Predicate {
  return removable(caller, 'c');
}

/** Only its author may draw on a whiteboard `w` (BOARD-8). */
export function editableWhiteboards(caller: Caller): Predicate {
  return caller.kind === 'anonymous' ? sql`false` : sql`(w.author_user_ref = ${caller.ref})`;
}

/** Whiteboards `w`; the rule of comments applies. */
export function deletableWhiteboards(caller: Caller): Predicate {
  return removable(caller, 'w');
}
