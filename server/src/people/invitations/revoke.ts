import { revokeInvitation } from '@vitrine/contract/invitations';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';

/** INVITE-5. */
export const revoke = handle(revokeInvitation, async ({ db }, { caller, params: { id } }) => {
  await db.transaction().execute(async (tx) => {
    const found = await tx
      .selectFrom('invitations')
      .select('revoked_at')
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (found === undefined) throw notFound();
    if (found.revoked_at !== null) return;
    await tx.updateTable('invitations').set({ revoked_at: sql`now()` }).where('id', '=', id).execute();
    await recordEvent(tx, caller, { event: 'invitation.revoked', metadata: { invitation: id } });
  });
  return { status: 204 };
});
