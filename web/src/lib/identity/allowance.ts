import type { SessionUser } from '@vitrine/contract/identity';

/** Whether somebody may do a thing; `unknown` when their capabilities could not be looked up (spec 2.11). */
export type Allowance = 'held' | 'missing' | 'unknown';

/** What the session says about a capability. Only `held` shows anything: the rest fails closed. */
export function allowanceOf(user: SessionUser | null, capability: string): Allowance {
  if (user === null) return 'missing';
  if (user.capabilities_status !== 'resolved') return 'unknown';
  const held = user.capabilities ?? [];
  return held.includes(capability) || held.includes('system.admin') ? 'held' : 'missing';
}

/** Whether to show what needs this capability. The service decides again when it is used. */
export function holds(user: SessionUser | null, capability: string): boolean {
  return allowanceOf(user, capability) === 'held';
}
