import type { SessionUser } from '@vitrine/contract/identity';
import type { Team } from '@vitrine/contract/teams';
import { holdsIn, type TeamCapabilities } from '#lib/identity/allowance.ts';

type Named = Pick<Team, 'id' | 'name'>;

/** So many teams are offered by name at once; more are found by a search. */
const mostOffered = 30;

export interface OfferedTeams {
  /** Teams to be offered beside one's own, by id. */
  readonly beside: readonly string[];
  /** Whether a search offers more: among any team, or among these. */
  readonly search: 'any' | ReadonlySet<string> | undefined;
}

/**
 * The teams somebody may give things to (TEAM-13): their own, and those they hold `teams.write` in. The service
 * decides again.
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

/** Whether this team is one of those, by what is known so far. */
export function mayAssignTo(
  teamId: string,
  own: readonly Pick<Team, 'id'>[] | undefined,
  user: SessionUser | null,
  held: TeamCapabilities | undefined,
): boolean {
  return (own?.some((team) => team.id === teamId) ?? false) || holdsIn(user, held, 'teams.write', teamId);
}

/** Teams as choices, each once and by name. */
export function choicesOf(teams: readonly Named[]): { value: string; label: string }[] {
  const byId = new Map(teams.map((team) => [team.id, team.name]));
  return [...byId].map(([value, label]) => ({ value, label })).sort((a, b) => a.label.localeCompare(b.label));
}
