import { requestRestore } from '@vitrine/contract/trash';
import { sql } from 'kysely';
import { RESTORE_MARKER } from '../../access/requests.ts';
import { mayRestore, ownTrash } from '../../access/trash.ts';
import { handle } from '../../core/handle.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { createRequest } from './create-request.ts';

const owned = {
  post: { table: sql.table('posts'), owner: 'author_user_ref' },
  asset: { table: sql.table('assets'), owner: 'owner_user_ref' },
  collection: { table: sql.table('collections'), owner: 'owner_user_ref' },
} as const;

/** TRASH-6: requests the restore of the caller's thing that someone else deleted. */
export const handleRequestRestore = handle(requestRestore, async ({ db }, { caller, params, body }) => {
  const { table, owner } = owned[params.kind];
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ deleted_by_user_ref: number | null }>`
      select x.deleted_by_user_ref from ${table} x where x.id = ${params.id} and ${ownTrash(caller, owner)}`.execute(
      tx,
    );
    const row = rows[0];
    if (row === undefined) throw notFound();
    if (mayRestore(caller, row.deleted_by_user_ref)) throw refuse('restore-not-needed');
    const { created, request } = await createRequest(tx, caller, {
      kind: params.kind,
      id: params.id,
      capability: RESTORE_MARKER,
      reason: body?.reason ?? null,
    });
    return created ? { status: 201 as const, body: request } : { status: 200 as const, body: request };
  });
});
