import { renewLink } from '@vitrine/contract/links';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { checkApprovals } from '../approvals/gates.ts';
import { newAddress } from './address.ts';
import { lockLink } from './edit.ts';
import { shownLink } from './show.ts';
import { countOmitted } from './target.ts';

/**
 * `POST /links/{link}/renew`: the former address ends at once. The caller becomes the creator, on whose rights the link
 * depends (LINK-5, LINK-19).
 */
export const renew = handle(renewLink, async (deps, { caller, params, body, http }) => {
  const { token, url, tokenHash, tokenSealed } = await newAddress(deps, http);
  const renewed = await deps.db.transaction().execute(async (tx) => {
    const link = await lockLink(tx, caller, params.link);
    if (link.revoked_at !== null) throw refuse('link-revoked');
    if (link.target_kind === 'post')
      await checkApprovals(tx, caller, link.target_id, ['links'], body?.override_reason ?? null);
    await tx
      .updateTable('share_links')
      .set({
        token_hash: tokenHash,
        token_sealed: tokenSealed,
        created_by_user_ref: caller.ref,
        updated_at: sql`now()`,
      })
      .where('id', '=', link.id)
      .execute();
    await recordEvent(tx, caller, {
      event: 'link.renewed',
      target: { kind: 'link', id: link.id },
      metadata: { label: link.label, target_kind: link.target_kind, target_id: link.target_id },
    });
    return { ...shownLink(link), omitted_count: await countOmitted(tx, link.target_kind, link.target_id) };
  });
  return { status: 201, body: { ...renewed, url, token } };
});
