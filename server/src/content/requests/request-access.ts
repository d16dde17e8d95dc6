import { capabilities } from '@vitrine/contract/capabilities';
import { requestAccess } from '@vitrine/contract/requests';
import { sql } from 'kysely';
import { readableAssets } from '../../access/assets.ts';
import { ACCESS_MARKER, RESTORE_MARKER } from '../../access/requests.ts';
import { handle } from '../../core/handle.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { createRequest } from './create-request.ts';

/** The requested code: the marker by default, or any real capability. */
function checkedCode(code: string): string {
  if (code === RESTORE_MARKER) throw refuse('restore-requested-elsewhere', { value: RESTORE_MARKER });
  if (code !== ACCESS_MARKER && !capabilities.some((known) => known === code)) {
    throw refuse('capability-unknown', { value: code });
  }
  return code;
}

/** REQUEST-4: a new request is 201; the same request while pending is 200 and changes nothing. */
export const request = handle(requestAccess, async ({ db }, { caller, params, body }) => {
  const capability = checkedCode(body?.capability ?? ACCESS_MARKER);
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      own: boolean;
    }>`select a.owner_user_ref is not distinct from ${caller.ref} as own
      from assets a where a.id = ${params.id} and ${readableAssets(caller)}`.execute(tx);
    const asset = rows[0];
    if (asset === undefined) throw notFound();
    if (asset.own) throw refuse('own-asset');
    const { created, request } = await createRequest(tx, caller, {
      kind: 'asset',
      id: params.id,
      capability,
      reason: body?.reason ?? null,
    });
    return created ? { status: 201 as const, body: request } : { status: 200 as const, body: request };
  });
});
