import { exportUsers, type UserColumn, userColumns } from '@vitrine/contract/user-csv';
import { type RawBuilder, sql } from 'kysely';
import { lackedFor } from '../../../access/accounts.ts';
import { seesPersonalData } from '../../../access/identities.ts';
import { ownTeam } from '../../../access/teams.ts';
import { neutralised } from '../../../content/csv/formulas.ts';
import { sendCsv } from '../../../content/csv/send.ts';
import { handle } from '../../../core/handle.ts';
import { accountsMatching } from '../../../people/users/list.ts';
import type { Columns, Database } from '../../../platform/database/pool.ts';
import { readAhead } from '../../../platform/read-ahead.ts';

interface ExportRow extends Columns<'users', 'ref' | 'username' | 'fullname' | 'email' | 'expires_at'> {
  role: string;
  teams: string[];
}

/** The slugs of the teams of an account `u`, in their order. */
export const teamSlugs: RawBuilder<string[]> = sql`array(select t.slug from team_members tm
  join teams t on t.id = tm.team_id where tm.user_ref = u.ref and ${ownTeam} order by t.slug)`;

/** Accounts per statement. */
const AT_ONCE = 500;

/** Yields the rows of the accounts that match, some at a time. */
async function* readRows(
  db: Database,
  matching: RawBuilder<unknown>,
  columns: readonly UserColumn[],
): AsyncIterable<string[][]> {
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const { rows } = await sql<ExportRow>`
      select u.ref, u.username, u.fullname, u.email, u.expires_at, r.code as role, ${teamSlugs} as teams
      ${matching} and u.ref < ${before} order by u.ref desc limit ${AT_ONCE}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    before = last.ref;
    yield rows.map((row) => {
      const cells = { ...row, teams: row.teams.join('|') };
      return columns.map((column) => neutralised(cells[column] ?? ''));
    });
  }
}

/** `GET /admin/users/export.csv`, streamed (CSV-11). */
export const exportCsv = handle(exportUsers, async (deps, { caller, query, http }) => {
  const { bom, ...filters } = query;
  const matching = await accountsMatching(deps, filters, seesPersonalData(caller));
  const columns = userColumns.filter((column) => lackedFor(caller, column) === null);
  return sendCsv(deps.log, http, {
    name: 'accounts',
    bom: bom === true,
    columns,
    rows: readAhead(readRows(deps.db, matching, columns)),
  });
});
