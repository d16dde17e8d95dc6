import { refuse } from '../platform/http/refuse.ts';
import { holds, type SignedIn } from './caller.ts';
import type { Capabilities } from './capabilities.ts';

/**
 * IMPERSONATION-4, the refusals about the caller, in their order: a chain, whatever its target holds; no capability; oneself,
 * which is said of an administrator only.
 */
export function checkMayImpersonate(caller: SignedIn, targetRef: number): void {
  if (caller.impersonator !== null) throw refuse(400, 'you are acting as somebody else already');
  if (!holds(caller, 'auth.impersonate')) throw refuse(403, 'missing capability auth.impersonate');
  if (caller.ref === targetRef) throw refuse(400, 'you are that person already');
}

/** ROLE-18: a holder of `system.admin` is nobody's mask. */
export function checkMayBeImpersonated(target: Capabilities): void {
  if (target.everywhere.has('system.admin'))
    throw refuse(403, 'a holder of system.admin cannot be impersonated');
}

/** An impersonation ends with the right to it, and when its target becomes an administrator. */
export function mayStillImpersonate(admin: Capabilities, target: Capabilities): boolean {
  const mayImpersonate = admin.everywhere.has('auth.impersonate') || admin.everywhere.has('system.admin');
  return mayImpersonate && !target.everywhere.has('system.admin');
}
