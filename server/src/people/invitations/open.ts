import { getInvitation } from '@vitrine/contract/invitations';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { disclosedIdentity, displayName } from '../../access/identities.ts';
import { giverOf, openInvitations } from '../../access/invitations.ts';
import { writableTeams } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import { readSiteName } from '../../core/settings.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { hashToken } from '../identity/sessions.ts';
import { capabilitiesOfRole } from '../roles/roles.ts';
import { addMembers } from '../teams/members.ts';

/** An invitation that can be accepted. */
export interface OpenInvitation {
  id: string;
  email: string | null;
  email_key: string | null;
  role_id: string;
  role: string;
  /** Who gives what it gives, with their current rights. */
  giver: SignedIn;
}

type InvitationRow = Omit<OpenInvitation, 'giver'> & { given_by_user_ref: number | null };

/** Invitations `i` with this token, from the address or the mail. */
export function withToken(token: string): RawBuilder<boolean> {
  const hash = hashToken(token);
  return sql`(i.token_hash = ${hash} or i.mailed_token_hash = ${hash})`;
}

const noLock = sql``;

/** More invitations of one e-mail are not considered. */
const MOST_CANDIDATES = 100;

/** Returns the newest invitation `i` that meets a condition and can be accepted, or null (INVITE-3, INVITE-6). */
export async function findOpenInvitation(
  db: Database,
  which: RawBuilder<boolean>,
  lock: RawBuilder<unknown> = noLock,
): Promise<OpenInvitation | null> {
  const { rows } = await sql<InvitationRow>`
    select i.id, i.email, i.email_key, i.role_id, r.code as role, i.given_by_user_ref
    from invitations i join roles r on r.id = i.role_id
    where ${which} and ${openInvitations} order by i.created_at desc, i.id desc
    limit ${MOST_CANDIDATES} ${lock}`.execute(db);
  for (const { given_by_user_ref, ...invitation } of rows) {
    const giver = await giverOf(db, given_by_user_ref, await capabilitiesOfRole(db, invitation.role_id));
    if (giver !== null) return { ...invitation, giver };
  }
  return null;
}

/**
 * Locks an invitation for its use; null if it can no longer be accepted. The transaction holds the lock `administrators`,
 * so that the rights of who gives it do not change meanwhile.
 */
export async function lockOpenInvitation(tx: Tx, which: RawBuilder<boolean>): Promise<OpenInvitation | null> {
  return findOpenInvitation(tx, which, sql`for update of i`);
}

/** Uses an invitation once for a new account: adds it to the teams that its giver may still fill (INVITE-7). */
export async function useInvitation(
  tx: Tx,
  { id, role, giver }: OpenInvitation,
  userRef: number,
): Promise<void> {
  await tx
    .updateTable('invitations')
    .set((eb) => ({ uses: eb('uses', '+', 1) }))
    .where('id', '=', id)
    .execute();
  const { rows: teams } = await sql<{ id: string }>`
    select t.id from invitation_teams i join teams t on t.id = i.team_id
    where i.invitation_id = ${id} and ${writableTeams(giver)} order by t.id for no key update of t`.execute(
    tx,
  );
  for (const team of teams) await addMembers(tx, giver, { team: team.id, refs: [userRef], role: 'member' });
  await recordEvent(tx, null, {
    event: 'invitation.accepted',
    actorUserRef: userRef,
    subjectUserRef: userRef,
    metadata: { invitation: id, role, invited_by: giver.ref },
  });
}

export const show = handle(getInvitation, async ({ db }, { caller, params }) => {
  const invitation = await findOpenInvitation(db, withToken(params.token));
  if (invitation === null) throw notFound();
  const { rows } = await sql<{ name: string }>`select ${displayName(caller, 'u')} as name from users u
    where u.ref = ${invitation.giver.ref} and ${disclosedIdentity(caller, 'u')}`.execute(db);
  return {
    status: 200,
    body: {
      site_name: await readSiteName(db),
      role: invitation.role,
      invited_by: rows[0]?.name ?? null,
    },
  };
});
