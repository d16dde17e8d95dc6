import { listCopies } from '@vitrine/contract/uploads';
import { sql } from 'kysely';
import { ownAssets } from '../../access/assets.ts';
import { handle } from '../../core/handle.ts';
import { notFound } from '../../platform/http/refuse.ts';

/** Returns the caller's own assets with the same bytes. Does not reveal whether other accounts have the file. */
export const copies = handle(listCopies, async ({ db }, { caller, params }) => {
  const { rows } = await sql<{ id: string; title: string }>`
    select a.id, a.title from assets a
    where a.file_hash = (select o.file_hash from assets o where o.id = ${params.id}) and ${ownAssets(caller.ref)}
    order by a.created_at, a.id limit 11`.execute(db);
  // The limit above includes the asset itself, which is in the result if it belongs to the caller.
  const own = await sql`select from assets a where a.id = ${params.id} and ${ownAssets(caller.ref)}`.execute(
    db,
  );
  if (own.rows.length === 0) throw notFound();
  return { status: 200, body: { items: rows.filter(({ id }) => id !== params.id).slice(0, 10) } };
});
