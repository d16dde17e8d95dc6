import { type RawBuilder, sql } from 'kysely';
import { refuse } from '../platform/http/refuse.ts';
import { holds, type SignedIn } from './caller.ts';
import { trashed } from './live.ts';

/** Who knows of what was deleted, and who brings it back. Predicates speak of a post, asset or collection `x`. */
type Predicate = RawBuilder<boolean>;

/** The column that says whose a row is. */
type OwnerColumn = 'author_user_ref' | 'owner_user_ref';

/** The caller's own in the trash, whoever put it there. */
export function ownTrash(caller: SignedIn, owner: OwnerColumn): Predicate {
  return sql`(${trashed('x')} and x.${sql.ref(owner)} = ${caller.ref})`;
}

/** What the caller put into the trash, whoever's it is. */
export function trashedBy(caller: SignedIn): Predicate {
  return sql`(${trashed('x')} and x.deleted_by_user_ref = ${caller.ref})`;
}

/** TRASH-2: one's own delete can be undone, `system.admin` undoes any; one without a deleter only they. */
export function mayRestore(caller: SignedIn, deletedByRef: number | null): boolean {
  return holds(caller, 'system.admin') || deletedByRef === caller.ref;
}

/** Throws the 403 of TRASH-2. */
export function checkMayRestore(caller: SignedIn, deletedByRef: number | null): void {
  if (!mayRestore(caller, deletedByRef)) throw refuse(403, 'only whoever deleted it can restore it');
}
