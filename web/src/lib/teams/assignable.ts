import type { SessionUser } from '@vitrine/contract/identity';
import type { Team } from '@vitrine/contract/teams';
import { holdsIn, type TeamCapabilities } from '#lib/identity/allowance.ts';

type Named = Pick<Team, 'id' | 'name'>;

/** The number of teams offered at once; others are found by search. */
const mostOffered = 30;

export interface OfferedTeams {
  /** Ids of teams to offer in addition to the user's own. */
  readonly beside: readonly string[];
  /** Whether a search offers more: among all teams, or among these ids. */
  readonly search: 'any' | ReadonlySet<string> | undefined;
}

/**
 * Returns the teams to which a user may assign content (TEAM-13): their own, and those in which they hold
 * `teams.write`. The service checks again.
 */
export function offeredTeams(
  own: readonly Named[],
  { everywhere, held }: { everywhere: boolean; held: readonly string[] },
): OfferedTeams {
  if (everywhere) return { beside: [], search: 'any' };
  const beside = held.filter((id) => !own.some((team) => team.id === id));
  return beside.length <= mostOffered
    ? { beside, search: undefined }
    : { beside: [], search: new Set(beside) };
}

/** Returns whether this team is among them, as far as is known. */
export function mayAssignTo(
  teamId: string,
  own: readonly Pick<Team, 'id'>[] | undefined,
  user: SessionUser | null,
  held: TeamCapabilities | undefined,
): boolean {
  return (own?.some((team) => team.id === teamId) ?? false) || holdsIn(user, held, 'teams.write', teamId);
}

/** Returns teams as distinct choices, sorted by name. */
export function choicesOf(teams: readonly Named[]): { value: string; label: string }[] {
  const byId = new Map(teams.map((team) => [team.id, team.name]));
  return [...byId].map(([value, label]) => ({ value, label })).sort((a, b) => a.label.localeCompare(b.label));
}
