import { type RawBuilder, sql } from 'kysely';
import { refuse } from '../platform/http/refuse.ts';
import { holds, type SignedIn } from './caller.ts';
import { checkHolds } from './door.ts';
import { trashed } from './live.ts';

/** Who sees deleted things and who restores them. Predicates refer to a post, asset or collection `x`. */
type Predicate = RawBuilder<boolean>;

/** The column with the owner of a row. */
type OwnerColumn = 'author_user_ref' | 'owner_user_ref';

/** The caller's own things in the trash, no matter who deleted them. */
export function ownTrash(caller: SignedIn, owner: OwnerColumn): Predicate {
  return sql`(${trashed('x')} and x.${sql.ref(owner)} = ${caller.ref})`;
}

/** Things that the caller deleted, no matter who owns them. */
export function trashedBy(caller: SignedIn): Predicate {
  return sql`(${trashed('x')} and x.deleted_by_user_ref = ${caller.ref})`;
}

/** Everyone's things in the trash; throws 403 for callers without `system.admin` (TRASH-5). */
export function everyonesTrash(caller: SignedIn): Predicate {
  checkHolds(caller, 'system.admin');
  return trashed('x');
}

/** TRASH-2: the deleter and `system.admin` may restore; without a known deleter only `system.admin`. */
export function mayRestore(caller: SignedIn, deletedByRef: number | null): boolean {
  return holds(caller, 'system.admin') || deletedByRef === caller.ref;
}

/**
 * Whether the caller knows of a thing in the trash: those who may restore it, and its owner, who may appeal. For others
 * it does not exist (BATCH-3).
 */
export function knowsOfTrashed(
  caller: SignedIn,
  { ownerRef, deletedByRef }: { ownerRef: number | null; deletedByRef: number | null },
): boolean {
  return ownerRef === caller.ref || mayRestore(caller, deletedByRef);
}

/** Throws the 403 of TRASH-2. */
export function checkMayRestore(caller: SignedIn, deletedByRef: number | null): void {
  if (!mayRestore(caller, deletedByRef)) throw refuse('restore-not-yours');
}
