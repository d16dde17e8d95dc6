import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, teamsWith } from './caller.ts';
import { live } from './live.ts';

/**
 * Comments are read with their post: whoever reads the post reads all of its comments that are not deleted (POST-33).
 * Predicates speak of `comments c` and its post `posts p`.
 */
type Predicate = RawBuilder<boolean>;

export const liveComment: Predicate = live('c');

/** A comment is changed by who wrote it. */
export function editableComments(caller: Caller): Predicate {
  return caller.kind === 'anonymous' ? sql`false` : sql`(c.author_user_ref = ${caller.ref})`;
}

/**
 * What was written or drawn on a post is taken away by whose it is, by the post's author and by `posts.admin`
 * (COMMENT-8). `contribution` is the alias of its row.
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

/** Whiteboards `w`, as comments. */
export function deletableWhiteboards(caller: Caller): Predicate {
  return removable(caller, 'w');
}
