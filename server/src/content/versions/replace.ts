import { MOST_VERSIONS } from '@vitrine/contract/versions';
import { sql } from 'kysely';
import { versionedAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { notifyPeers } from '../../core/outbox/enqueue.ts';
import { isRenderable } from '../../media/renderable.ts';
import { kindOf } from '../../media/sniff.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Columns, Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { followContent, postsWith } from '../approvals/post-content.ts';
import { enqueueExtract, enqueueRender } from '../assets/decoding-jobs.ts';
import { copyEmbedded, hasRenditions } from '../assets/insert.ts';
import { enqueueRelease } from '../assets/used-files.ts';
import { recordFirstVersion } from '../assets/version-rows.ts';
import { trimVersions } from './keep.ts';

/** An asset whose versions the caller may change, read under its lock. */
export interface VersionedAsset
  extends Columns<'assets', 'id' | 'file_hash' | 'file_name' | 'interim_hash'>,
    Columns<'files', 'mime'> {
  owner: number | null;
  /** The number of the current version. */
  current: number;
}

/** Locks an asset whose versions the caller may change; the same 404 for everyone else (VERSION-3). */
export async function lockVersioned(tx: Tx, caller: SignedIn, id: string): Promise<VersionedAsset> {
  const locked = await sql`select from assets a where a.id = ${id} and ${versionedAssets(caller)}
    for no key update of a`.execute(tx);
  if (locked.rows.length === 0) throw notFound();
  // After the lock, so that it sees the version that another request has just added.
  const asset = await readVersioned(tx, id);
  if (asset === null) throw notFound();
  return asset;
}

/** Returns an asset whose lock the caller holds; null if there is none. */
export async function readVersioned(tx: Tx, id: string): Promise<VersionedAsset | null> {
  const { rows } = await sql<VersionedAsset>`
    select a.id, a.file_hash, a.file_name, a.interim_hash, a.owner_user_ref as owner, f.mime,
      coalesce((select max(v.number) from asset_versions v where v.asset_id = a.id), 1) as current
    from assets a join files f on f.hash = a.file_hash where a.id = ${id}`.execute(tx);
  return rows[0] ?? null;
}

/** A stored file that becomes the next version. The caller holds the lock of its hash. */
export interface NextFile {
  hash: string;
  mime: string;
  fileName: string;
  note: string;
}

/** Removes the subtitles inside the current file from the asset; those that people added stay (VERSION-10). */
async function removeEmbedded(tx: Tx, { id, current }: VersionedAsset): Promise<void> {
  const { rows } = await sql<{ file_hash: string }>`
    delete from subtitles where asset_id = ${id} and embedded returning file_hash`.execute(tx);
  if (rows.length === 0) return;
  await tx
    .updateTable('asset_versions')
    .set({ had_subtitles: true })
    .where('asset_id', '=', id)
    .where('number', '=', current)
    .execute();
  await enqueueRelease(
    tx,
    rows.map(({ file_hash }) => file_hash),
  );
}

/** Gives the asset the subtitles inside a file that was rendered before: they are copied, or extracted again. */
async function returnEmbedded(
  tx: Tx,
  { id, owner }: VersionedAsset,
  { hash, mime }: NextFile,
): Promise<void> {
  await copyEmbedded(tx, id, hash);
  const { rows } = await sql`select from asset_versions v
    where v.asset_id = ${id} and v.file_hash = ${hash} and v.had_subtitles
      and not exists (select from subtitles s where s.asset_id = v.asset_id and s.embedded) limit 1`.execute(
    tx,
  );
  if (rows.length > 0) await enqueueRender(tx, { hash, mime, ownerRef: owner, again: true });
}

/** Refuses (409) the bytes that the asset has, and a file of another kind (VERSION-2). */
export function checkReplaces(asset: VersionedAsset, { hash, mime }: { hash: string; mime: string }): void {
  if (hash === asset.file_hash) throw refuse('version-unchanged');
  const [kind, current] = [kindOf(mime), kindOf(asset.mime)];
  if (kind !== current) throw refuse('version-of-other-kind', { kind, current });
}

/** How the version came to be. */
export type VersionEvent =
  | { event: 'asset.version.added' }
  | { event: 'asset.version.restored'; metadata: { restored: number } };

/**
 * Makes a stored file the next version of a locked asset, and returns its number. Until its renditions are made, those
 * of the version before are shown (VERSION-6). `ofAnyKind` is for a file that stood in for another one.
 */
export async function replaceFile(
  tx: Tx,
  caller: SignedIn,
  asset: VersionedAsset,
  next: NextFile,
  {
    ladderKeys,
    happened,
    ofAnyKind = false,
  }: { ladderKeys: readonly string[]; happened: VersionEvent; ofAnyKind?: boolean },
): Promise<number> {
  if (!ofAnyKind) checkReplaces(asset, next);
  const { id, owner } = asset;
  await recordFirstVersion(tx, id);
  await removeEmbedded(tx, asset);
  const number = asset.current + 1;
  await tx
    .insertInto('asset_versions')
    .values({
      asset_id: id,
      number,
      file_hash: next.hash,
      file_name: next.fileName,
      note: next.note,
      created_by_user_ref: caller.ref,
    })
    .execute();
  const waits = isRenderable(next.mime) && !(await hasRenditions(tx, next.hash, ladderKeys));
  const interim = waits ? await interimOf(tx, asset, ladderKeys) : null;
  await tx
    .updateTable('assets')
    .set({
      file_hash: next.hash,
      file_name: next.fileName,
      processing_status: waits ? 'pending' : 'ready',
      processing_error: null,
      interim_hash: interim,
      updated_at: nextUpdatedAt,
    })
    .where('id', '=', id)
    .execute();
  if (waits) await enqueueRender(tx, { hash: next.hash, mime: next.mime, ownerRef: owner ?? caller.ref });
  else await returnEmbedded(tx, asset, next);
  await enqueueExtract(tx, { hash: next.hash, asset: id, ownerRef: owner ?? caller.ref, renews: true });
  const removed = await trimVersions(tx, id);
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from asset_versions where asset_id = ${id}`.execute(tx);
  if ((rows[0]?.count ?? 0) > MOST_VERSIONS) throw refuse('too-many-versions', { max: MOST_VERSIONS });
  if (asset.interim_hash !== null && asset.interim_hash !== interim)
    await enqueueRelease(tx, [asset.interim_hash]);
  await followContent(tx, caller, postsWith([id]));
  await notifyPeers(tx, { activity: 'update', kind: 'asset', objectId: id, actorRef: caller.ref });
  await recordEvent(tx, caller, {
    event: happened.event,
    ...(owner === null || owner === caller.ref ? {} : { subjectUserRef: owner }),
    target: { kind: 'asset', id },
    metadata: {
      number,
      ...('metadata' in happened ? happened.metadata : {}),
      ...(removed === 0 ? {} : { removed }),
    },
  });
  return number;
}

/** Returns the file whose renditions are shown while the next one is prepared; null if none has all of them. */
async function interimOf(
  tx: Tx,
  { file_hash, interim_hash }: VersionedAsset,
  ladderKeys: readonly string[],
): Promise<string | null> {
  return (await hasRenditions(tx, file_hash, ladderKeys)) ? file_hash : interim_hash;
}
