import { foldName } from '@vitrine/contract/names';
import type { Role } from '@vitrine/contract/roles';
import { sql } from 'kysely';
import { administers, administersWith } from '../../../access/accounts.ts';
import { administeredOf } from '../../../access/administered.ts';
import type { SignedIn } from '../../../access/caller.ts';
import { ownTeam, writableTeams } from '../../../access/teams.ts';
import { allRoles } from '../../../people/roles/roles.ts';
import type { Columns, Tx } from '../../../platform/database/pool.ts';
import { teamSlugs } from './export.ts';
import type { AccountLine } from './read-rows.ts';

/** An account as it is before the import. */
export interface KnownAccount
  extends Columns<'users', 'ref' | 'username' | 'fullname' | 'email' | 'expires_at'> {
  username_key: string | null;
  role: string;
  teams: string[];
  /** Whether it is one of the administrators that ROLE-11 counts, and whether it is one without its role. */
  administers: boolean;
  by_grant: boolean;
}

interface KnownTeam {
  id: string;
  slug: string;
  writable: boolean;
}

/** What the rows of a file are compared with. */
export interface Known {
  /** Accounts by the keys of their usernames. */
  readonly accounts: ReadonlyMap<string, KnownAccount>;
  /** Those that the caller may administer (ROLE-10). */
  readonly administered: ReadonlySet<number>;
  readonly roles: ReadonlyMap<string, Role>;
  readonly teams: ReadonlyMap<string, KnownTeam>;
}

/** Returns the slugs in a cell of teams. */
export function slugsIn(cell: string): string[] {
  const slugs = cell.split('|').map((slug) => slug.trim().toLowerCase());
  return [...new Set(slugs.filter((slug) => slug !== ''))].sort();
}

/**
 * Reads what some rows are compared with; locks the teams, the accounts and the roles unless it is a dry run, so that they
 * do not change until they are written (ROLE-23).
 */
export async function readKnown(
  tx: Tx,
  caller: SignedIn,
  lines: readonly AccountLine[],
  isDryRun: boolean,
): Promise<Known> {
  const keys = lines.map(({ username }) => foldName(username));
  const mentioned = lines.flatMap(({ cells }) => slugsIn(cells.get('teams') ?? ''));
  const teams = await sql<KnownTeam>`
    select t.id, t.slug, ${writableTeams(caller)} as writable from teams t
    where ${ownTeam} and (lower(t.slug) = any(${mentioned}::text[]) or exists (select from team_members tm
      join users u on u.ref = tm.user_ref where tm.team_id = t.id and u.username_key = any(${keys}::text[])))
    order by t.id ${isDryRun ? sql`` : sql`for no key update of t`}`.execute(tx);
  if (!isDryRun) await sql`select from roles order by id for key share`.execute(tx);
  const accounts = await sql<KnownAccount>`
    select u.ref, u.username, u.username_key, u.fullname, u.email, u.expires_at, r.code as role, ${teamSlugs} as teams,
      ${administers} as administers, ${administersWith(sql`false`)} as by_grant
    from users u join roles r on r.id = u.role_id where u.username_key = any(${keys}::text[])
    order by u.ref ${isDryRun ? sql`` : sql`for no key update of u`}`.execute(tx);
  const refs = accounts.rows.map(({ ref }) => ref);
  return {
    accounts: new Map(accounts.rows.map((account) => [account.username_key ?? '', account])),
    administered: await administeredOf(tx, caller, refs),
    roles: new Map((await allRoles(tx)).map((role) => [role.code, role])),
    teams: new Map(teams.rows.map((team) => [team.slug.toLowerCase(), team])),
  };
}
