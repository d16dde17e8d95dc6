import { revokeLink } from '@vitrine/contract/links';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { lockLink } from './edit.ts';

/** `DELETE /links/{link}`: disables the link, which stays listed. Idempotent. */
export const revoke = handle(revokeLink, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const link = await lockLink(tx, caller, params.link);
    if (link.revoked_at !== null) return;
    await tx
      .updateTable('share_links')
      .set({ revoked_at: sql`now()`, updated_at: sql`now()` })
      .where('id', '=', link.id)
      .execute();
    await recordEvent(tx, caller, {
      event: 'link.revoked',
      target: { kind: 'link', id: link.id },
      metadata: { label: link.label, target_kind: link.target_kind, target_id: link.target_id },
    });
  });
  return { status: 204 };
});
