import type { SessionUser } from '@vitrine/contract/identity';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';

/** Whether somebody may do a thing; `unknown` when their capabilities could not be looked up (SESSION-13). */
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

/** What somebody may do in some teams only; the session names none of it (SESSION-12). */
export type TeamCapabilities = NonNullable<AnswerOf<Operations['getMyCapabilities']>['team_capabilities']>;

/** Whether somebody may make posts of files they add; for which teams, the form says. */
export function mayPost(user: SessionUser | null): boolean {
  return holds(user, 'posts.create') && holds(user, 'assets.create');
}

/** The teams that somebody holds a capability in, where it is not theirs everywhere. */
export function teamsHeld(held: TeamCapabilities | undefined, capability: string): string[] {
  return held?.flatMap((one) => (one.capability === capability ? one.team_ids : [])) ?? [];
}

/** Whether to show what needs this capability for a thing of this team. The service decides again. */
export function holdsIn(
  user: SessionUser | null,
  held: TeamCapabilities | undefined,
  capability: string,
  teamId: string | null | undefined,
): boolean {
  if (user === null) return false;
  if (holds(user, capability)) return true;
  if (teamId == null || user.capabilities_status !== 'resolved') return false;
  return held?.some((one) => one.capability === capability && one.team_ids.includes(teamId)) ?? false;
}
