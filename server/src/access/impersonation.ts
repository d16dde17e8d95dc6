import { refuse } from '../platform/http/refuse.ts';
import { holds, type SignedIn } from './caller.ts';
import type { Capabilities } from './capabilities.ts';

/**
 * IMPERSONATION-4: refusals about the caller, in order: already impersonating, whatever the target; capability missing;
 * own account, reported to administrators only.
 */
export function checkMayImpersonate(caller: SignedIn, targetRef: number): void {
  if (caller.impersonator !== null) throw refuse('already-impersonating');
  if (!holds(caller, 'auth.impersonate'))
    throw refuse('capability-missing', { capability: 'auth.impersonate' });
  if (caller.ref === targetRef) throw refuse('cannot-impersonate-yourself');
}

/** ROLE-18: holders of `system.admin` cannot be impersonated. */
export function checkMayBeImpersonated(target: Capabilities): void {
  if (target.everywhere.has('system.admin')) throw refuse('cannot-impersonate-administrator');
}

/** An impersonation ends when the administrator loses the right to it or the target becomes an administrator. */
export function mayStillImpersonate(admin: Capabilities, target: Capabilities): boolean {
  const mayImpersonate = admin.everywhere.has('auth.impersonate') || admin.everywhere.has('system.admin');
  return mayImpersonate && !target.everywhere.has('system.admin');
}
