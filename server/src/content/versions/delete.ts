import { deleteAssetVersion } from '@vitrine/contract/versions';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { lockFile } from '../assets/insert.ts';
import { enqueueRelease, forgetUnusedFile } from '../assets/used-files.ts';
import { lockVersioned } from './replace.ts';

/** `DELETE /assets/{id}/versions/{number}`: permanent, since versions have no trash. */
export const remove = handle(deleteAssetVersion, async ({ db }, { caller, params }) => {
  const hash = await db.transaction().execute(async (tx) => {
    const asset = await lockVersioned(tx, caller, params.id);
    if (params.number === asset.current) throw refuse('version-current');
    const { rows } = await sql<{ file_hash: string }>`
      delete from asset_versions where asset_id = ${asset.id} and number = ${params.number}
      returning file_hash`.execute(tx);
    const [gone] = rows;
    if (gone === undefined) throw notFound();
    // Nothing of a deleted version is shown any longer, not even in the interim.
    await sql`update assets a set interim_hash = null, updated_at = ${nextUpdatedAt}
      where a.id = ${asset.id} and a.interim_hash = ${gone.file_hash} and not exists (
        select from asset_versions v where v.asset_id = a.id and v.file_hash = a.interim_hash)`.execute(tx);
    await enqueueRelease(tx, [gone.file_hash]);
    await recordEvent(tx, caller, {
      event: 'asset.version.deleted',
      ...(asset.owner === null || asset.owner === caller.ref ? {} : { subjectUserRef: asset.owner }),
      target: { kind: 'asset', id: asset.id },
      metadata: { number: params.number },
    });
    return gone.file_hash;
  });
  // The install's quota counts files. The job removes the bytes, also after a crash before this.
  await db.transaction().execute(async (tx) => {
    await lockFile(tx, hash);
    await forgetUnusedFile(tx, hash);
  });
  return { status: 204 };
});
