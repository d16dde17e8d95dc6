import { refuse } from '../platform/http/refuse.ts';
import { holds, type SignedIn } from './caller.ts';

/** spec 4.10: one's own delete can be undone, `system.admin` undoes any; one without a deleter only they. */
export function mayRestore(caller: SignedIn, deletedByRef: number | null): boolean {
  return holds(caller, 'system.admin') || deletedByRef === caller.ref;
}

/** Throws the 403 of spec 4.10. */
export function checkMayRestore(caller: SignedIn, deletedByRef: number | null): void {
  if (!mayRestore(caller, deletedByRef)) throw refuse(403, 'only whoever deleted it can restore it');
}
