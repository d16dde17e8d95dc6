import {
  createInvitation,
  invitationDays,
  type NewInvitation,
  resendInvitation,
} from '@vitrine/contract/invitations';
import { sql } from 'kysely';
import { checkMayGive } from '../../access/accounts.ts';
import type { SignedIn } from '../../access/caller.ts';
import { checkMayFill } from '../../access/teams.ts';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import { readSite } from '../../core/settings.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { recordEvent } from '../audit/record.ts';
import { randomToken } from '../identity/access-tokens.ts';
import { keyOfEmail } from '../identity/email-keys.ts';
import { hashToken } from '../identity/sessions.ts';
import { sendsLinks } from '../mail/links.ts';
import { capabilitiesOfRole, findRole } from '../roles/roles.ts';
import { showInvitations } from './show.ts';

const DAY_MS = 86_400_000;

/** INVITE-2: returns when the invitation expires; throws 400 for a time in the past or too far away. */
function expiryOf(given: string | null): Date {
  const now = Date.now();
  if (given === null) return new Date(now + invitationDays.usual * DAY_MS);
  checkInFuture('expires_at', given);
  const most = invitationDays.most * DAY_MS;
  if (Date.parse(given) > now + most + 60_000)
    throw refuse('value-invalid', {
      property: 'expires_at',
      reason: sentence('must be at most {days} days from now', { days: invitationDays.most }),
    });
  return new Date(given);
}

/** Mails the address in the background, if there is an e-mail and mail can contain addresses. Returns whether it does. */
async function mailLater(tx: Tx, deps: Deps, { id, email }: { id: string; email: string | null }) {
  const mailed = email !== null && (await sendsLinks(deps));
  if (mailed) await enqueue(tx, 'mail-invitation', { id }, { key: `invitation:${id}` });
  return mailed;
}

/** Returns the invitation with its address, which is the only time that it is shown (INVITE-4). */
async function shownOnce(
  tx: Tx,
  deps: Deps,
  { caller, http, id, token }: { caller: SignedIn; http: HttpFacts; id: string; token: string },
): Promise<NewInvitation> {
  const [shown] = await showInvitations(tx, caller, sql`i.id = ${id}`);
  if (shown === undefined) throw notFound();
  const base = (await readSite({ ...deps, db: tx })).base_url ?? http.ownOrigin;
  return { ...shown, url: `${base.replace(/\/$/, '')}/invite/${token}` };
}

export const create = handle(createInvitation, async (deps, { caller, body, http }) => {
  const { email: given, message, team_ids, max_uses } = body;
  const email = given ?? null;
  const teamIds = team_ids ?? [];
  const expiresAt = expiryOf(body.expires_at ?? null);
  const token = randomToken();
  const shown = await deps.db.transaction().execute(async (tx) => {
    const role = await findRole(tx, sql`code = ${body.role ?? 'member'}`);
    if (role === null) throw refuse('role-not-found');
    checkMayGive(caller, await capabilitiesOfRole(tx, role.id));
    await checkMayFill(tx, caller, teamIds);
    const { id } = await tx
      .insertInto('invitations')
      .values({
        token_hash: hashToken(token),
        email,
        email_key: keyOfEmail(email),
        role_id: role.id,
        message: message ?? null,
        max_uses: max_uses ?? 1,
        created_by_user_ref: caller.ref,
        given_by_user_ref: caller.ref,
        expires_at: expiresAt.toISOString(),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (teamIds.length > 0)
      await tx
        .insertInto('invitation_teams')
        .values(teamIds.map((team_id) => ({ invitation_id: id, team_id })))
        .execute();
    if (await mailLater(tx, { ...deps, db: tx }, { id, email }))
      await tx.updateTable('invitations').set({ mailed: true }).where('id', '=', id).execute();
    await recordEvent(tx, caller, {
      event: 'invitation.created',
      metadata: { invitation: id, role: role.code, max_uses: max_uses ?? 1 },
    });
    return shownOnce(tx, deps, { caller, http, id, token });
  });
  return { status: 201, body: shown };
});

/** INVITE-5. */
export const resend = handle(resendInvitation, async (deps, { caller, params, http }) => {
  const token = randomToken();
  const { id } = params;
  const shown = await deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ email: string | null; role_id: string; over: boolean; team_ids: string[] }>`
      select i.email, i.role_id, i.revoked_at is not null or i.uses >= i.max_uses as over,
        array(select t.team_id from invitation_teams t join teams on teams.id = t.team_id
          where t.invitation_id = i.id and teams.deleted_at is null) as team_ids
      from invitations i where i.id = ${id} for update`.execute(tx);
    const found = rows[0];
    if (found === undefined) throw notFound();
    checkMayGive(caller, await capabilitiesOfRole(tx, found.role_id));
    await checkMayFill(tx, caller, found.team_ids);
    if (found.over) throw refuse('invitation-over');
    const mailed = await mailLater(tx, { ...deps, db: tx }, { id, email: found.email });
    await sql`update invitations set token_hash = ${hashToken(token)}, mailed_token_hash = null, mailed = ${mailed},
        given_by_user_ref = ${caller.ref},
        opened_at = case when expires_at > now() then opened_at else now() end,
        expires_at = case when expires_at > now() then expires_at else now() + (expires_at - opened_at) end
      where id = ${id}`.execute(tx);
    await recordEvent(tx, caller, { event: 'invitation.resent', metadata: { invitation: id } });
    return shownOnce(tx, deps, { caller, http, id, token });
  });
  return { status: 200, body: shown };
});
