import { type Invitation, listInvitations } from '@vitrine/contract/invitations';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson, seesPersonalData } from '../../access/identities.ts';
import { openInvitations } from '../../access/invitations.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst } from '../../platform/http/page.ts';

interface InvitationRow extends Omit<Invitation, 'created_by'> {
  email: string | null;
  created_by: NonNullable<Invitation['created_by']> | null;
  created_by_user_ref: number | null;
}

/** Returns invitations as administrators see them (INVITE-3, INVITE-4). */
export async function showInvitations(
  db: Database,
  caller: SignedIn,
  where: RawBuilder<boolean>,
  rest: RawBuilder<unknown> = sql``,
): Promise<Invitation[]> {
  const { rows } = await sql<InvitationRow>`
    select i.id, i.email, r.code as role, i.uses, i.max_uses, i.expires_at, i.mailed, i.created_at,
      array(select t.team_id from invitation_teams t where t.invitation_id = i.id order by t.team_id) as team_ids,
      case when ${openInvitations} then 'open' when i.uses >= i.max_uses then 'used'
        when i.revoked_at is null and i.expires_at <= now() then 'expired' else 'revoked' end as state,
      ${identityJson(caller, 'u')} as created_by, i.created_by_user_ref
    from invitations i join roles r on r.id = i.role_id left join users u on u.ref = i.created_by_user_ref
    where ${where} ${rest}`.execute(db);
  const personal = seesPersonalData(caller);
  return rows.map(({ email, created_by, created_by_user_ref, ...row }) => ({
    ...row,
    ...(personal || created_by_user_ref === caller.ref ? { email } : {}),
    ...(created_by === null ? {} : { created_by }),
  }));
}

export const list = handle(listInvitations, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 'i.created_at', 'i.id');
  const rows = await showInvitations(db, caller, page.after, page.order);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});
