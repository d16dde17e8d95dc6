import type { CapabilitySource, Role } from '@vitrine/contract/roles';
import { shownRole } from '#lib/admin/holdings.ts';

/** Why a person may do something, or why not. */
export interface Reason {
  readonly text: string;
  readonly team?: string;
  /** Whether it also holds in the teams below the team. */
  readonly below?: boolean;
  readonly until?: string;
}

/** A capability with what gives it and what takes it away. */
export interface Explained {
  readonly code: string;
  /** Whether it holds everywhere. */
  readonly held: boolean;
  readonly given: readonly Reason[];
  readonly taken: readonly Reason[];
}

function reasonOf({ source, role, team_id, expires_at }: CapabilitySource, roles: readonly Role[]): Reason {
  const label = shownRole(roles, role ?? '');
  const words = {
    role: `The role ${label}`,
    grant: 'Granted to this account',
    team_role: 'Their role in a team',
    revoke: 'Revoked from this account',
  };
  return {
    text: words[source],
    ...(team_id === undefined ? {} : { team: team_id, below: source !== 'team_role' }),
    ...(expires_at === undefined ? {} : { until: expires_at }),
  };
}

/** Returns every capability that something gives or takes, in the order of the sources. */
export function explain(
  { capabilities, why }: { capabilities: readonly string[]; why: readonly CapabilitySource[] },
  roles: readonly Role[],
): Explained[] {
  const codes = [...new Set(why.map(({ capability }) => capability))];
  return codes.map((code) => {
    const sources = why.filter(({ capability }) => capability === code);
    const reasons = (isTaken: boolean) =>
      sources.filter(({ source }) => (source === 'revoke') === isTaken).map((one) => reasonOf(one, roles));
    return { code, held: capabilities.includes(code), given: reasons(false), taken: reasons(true) };
  });
}
