import type { SessionUser } from '@vitrine/contract/identity';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';

/** Whether a user holds a capability; `unknown` if their capabilities could not be loaded (SESSION-13). */
export type Allowance = 'held' | 'missing' | 'unknown';

/** Returns what the session says about a capability. The interface fails closed: only `held` shows anything. */
export function allowanceOf(user: SessionUser | null, capability: string): Allowance {
  if (user === null) return 'missing';
  if (user.capabilities_status !== 'resolved') return 'unknown';
  const held = user.capabilities ?? [];
  return held.includes(capability) || held.includes('system.admin') ? 'held' : 'missing';
}

/** Returns whether to show what needs this capability. The service checks again on use. */
export function holds(user: SessionUser | null, capability: string): boolean {
  return allowanceOf(user, capability) === 'held';
}

/** Capabilities that a user holds only in some teams. The session does not include them (SESSION-12). */
export type TeamCapabilities = NonNullable<AnswerOf<Operations['getMyCapabilities']>['team_capabilities']>;

/** Returns whether a user may create posts with uploads. The form checks for which teams. */
export function mayPost(user: SessionUser | null): boolean {
  return holds(user, 'posts.create') && holds(user, 'assets.create');
}

/** Returns the teams in which a user holds a capability that they do not hold globally. */
export function teamsHeld(held: TeamCapabilities | undefined, capability: string): string[] {
  return held?.flatMap((holding) => (holding.capability === capability ? holding.team_ids : [])) ?? [];
}

/** Returns whether to show what needs this capability for content of this team. The service checks again. */
export function holdsIn(
  user: SessionUser | null,
  held: TeamCapabilities | undefined,
  capability: string,
  teamId: string | null | undefined,
): boolean {
  if (user === null) return false;
  if (holds(user, capability)) return true;
  if (teamId == null || user.capabilities_status !== 'resolved') return false;
  return (
    held?.some((holding) => holding.capability === capability && holding.team_ids.includes(teamId)) ?? false
  );
}
