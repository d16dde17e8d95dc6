import { type Caller, holds } from './caller.ts';

/** Whether the caller may add files to a root: its owner and administrators (ROOT-14). */
export function addsToRoot(caller: Caller, root: { owner_user_ref: number | null }): boolean {
  if (caller.kind === 'anonymous') return false;
  return caller.ref === root.owner_user_ref || holds(caller, 'system.admin');
}
