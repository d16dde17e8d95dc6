import { getUpload, listUploads, type Upload } from '@vitrine/contract/uploads';
import { type RawBuilder, sql } from 'kysely';
import { ownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { ownUploads } from '../../access/uploads.ts';
import { type BoundOperation, handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { baseName } from '../assets/receive.ts';
import { handleTus } from './tus.ts';

/** Lists the caller's uploads that have no asset yet, in one statement. */
async function readUploads(
  db: Database,
  caller: SignedIn,
  condition: RawBuilder<unknown>,
  end: RawBuilder<unknown>,
): Promise<Upload[]> {
  const { rows } = await sql<Omit<Upload, 'file_name'> & { file_name: string | null }>`
    select up.id, up.metadata ->> 'filename' as file_name, up.size_bytes, up.received_bytes, up.created_at, up.expires_at,
      up.finished_at is not null as finished, up.file_hash, up.mime, up.extension,
      (select a.id from assets a where ${ownAssets(caller.ref)} and a.file_hash = up.file_hash
        order by a.created_at limit 1) as same_asset_id
    from uploads up where ${ownUploads(caller)} and up.used_at is null and ${condition} ${end}`.execute(db);
  return rows.map(({ file_name, ...row }) => ({ ...row, file_name: baseName(file_name ?? '') }));
}

export const list = handle(listUploads, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 'up.created_at', 'up.id');
  const cut = page.cut(await readUploads(db, caller, page.after, page.order), ({ created_at, id }) => ({
    at: created_at,
    id,
  }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});

const head = handleTus(getUpload);

const show = handle(getUpload, async ({ db }, { caller, params }) => {
  const [upload] = await readUploads(db, caller, sql`up.id = ${params.id}`, sql``);
  if (upload === undefined) throw notFound();
  return { status: 200, body: upload };
});

/** `GET /uploads/{id}` returns the upload as JSON; `HEAD` serves tus clients. */
export const get: BoundOperation<typeof getUpload> = {
  operation: getUpload,
  run: (deps, request, http, confirm) =>
    (request.method === 'HEAD' ? head : show).run(deps, request, http, confirm),
};
