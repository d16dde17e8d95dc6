import type { AssetFields, Sensitivity } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { registerTags } from '../../core/tag-register.ts';
import { isRenderable, MAKERS_VERSION } from '../../media/renderable.ts';
import type { MediaKind } from '../../media/sniff.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeKeyedLock } from '../../platform/database/take-lock.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { type GivenValues, seedValues } from '../fields/values/seed.ts';
import { enqueueExtract, enqueueRender } from './decoding-jobs.ts';
import type { Received } from './receive.ts';
import { findKnownFile, hasOriginal, repairRenditions, retryFailed } from './repair.ts';

/** Seeded asset types by media type (ASSET-25). */
export const typeOfKind: Record<MediaKind, number> = {
  image: 1,
  document: 2,
  video: 3,
  audio: 4,
  model: 5,
  font: 6,
  other: 7,
};

/** The default sensitivity of the install, for an asset that names none (ASSET-16). */
export const defaultSensitivity = sql<Sensitivity>`
  coalesce((select value #>> '{}' from settings where key = 'default_sensitivity'), 'posts')`;

/** The workflow state of a new asset. */
export const firstState = sql<string>`(select id from workflow_states where domain = 'asset' and code = 'wip')`;

/** Locks the hash until the transaction ends: storing and sweeping the same bytes are mutually exclusive. */
export async function lockFile(tx: Tx, hash: string): Promise<void> {
  await takeKeyedLock(tx, 'file', hash);
}

/** Stages received bytes, before the transaction that calls `storeFile`. */
export function stageFile(storage: Storage, received: Pick<Received, 'path' | 'hash'>): Promise<void> {
  return storage.stage(received.path, originalKey(received.hash));
}

/**
 * Stores received bytes by hash, with their row, in the asset's transaction. Bytes that the library already has replace
 * the stored ones, which repairs a damaged or missing original; damaged renditions are rendered again.
 */
export async function storeFile(tx: Tx, storage: Storage, received: Received): Promise<void> {
  await lockFile(tx, received.hash);
  const known = await findKnownFile(tx, received.hash);
  // Not for new bytes: the lookup below the roots needs a second connection, and concurrent uploads may hold all of them.
  const wasThere = known !== null && (await hasOriginal(storage, received.hash, received.sizeBytes));
  await storage.adopt(received.path, originalKey(received.hash));
  if (known !== null) {
    await sql`update files set in_place = false where hash = ${received.hash} and in_place`.execute(tx);
    await repairRenditions(tx, storage, known);
    if (!wasThere) await retryFailed(tx, known);
    return;
  }
  await tx
    .insertInto('files')
    .values({
      hash: received.hash,
      size_bytes: received.sizeBytes,
      mime: received.mime,
      extension: received.extension,
      makers_version: MAKERS_VERSION,
    })
    .execute();
}

/** Gives an asset the subtitles inside its bytes, which another asset of the same bytes has (SUBTITLE-9). */
export async function copyEmbedded(tx: Tx, id: string, hash: string): Promise<void> {
  const embedded = sql`from subtitles s join assets a on a.id = s.asset_id
    where a.file_hash = ${hash} and a.id <> ${id} and s.embedded`;
  const { rows } = await sql<{
    file_hash: string;
  }>`select distinct s.file_hash ${embedded} order by 1`.execute(tx);
  // Keeps the bytes from being released at the same time.
  for (const row of rows) await lockFile(tx, row.file_hash);
  if (rows.length === 0) return;
  await sql`
    insert into subtitles (asset_id, lang, label, file_hash, size_bytes, source_format, confidence, embedded)
    select distinct on (s.lang) ${id}::uuid, s.lang, s.label, s.file_hash, s.size_bytes, s.source_format,
      s.confidence, true ${embedded} order by s.lang, s.created_at on conflict (asset_id, lang) do nothing`.execute(
    tx,
  );
}

export interface NewAsset {
  /** The id of an asset whose place it takes, which was removed in the same transaction. */
  id?: string;
  ownerRef: number;
  /** The ladder's keys: bytes that were rendered for another asset are not rendered again. */
  ladderKeys: readonly string[];
  hash: string;
  mime: string;
  kind: MediaKind;
  fileName: string;
  fields: AssetFields;
  /** Field values given with the asset; without them it gets the defaults only. */
  given?: GivenValues;
  /** When it was created in the system that it comes from. */
  createdAt?: string;
  /** Its workflow state, other than the first. */
  stateId?: string;
}

/** Truncates text to this many UTF-16 units, without splitting a character. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
}

/** Returns the default title of a file: its name without the extension, unless it consists of the extension only. */
export function titleFrom(fileName: string): string {
  return shortened(fileName.replace(/(?<=.)\.[^.]{1,10}$/, ''), 500);
}

/** Returns whether these bytes have all of these renditions. */
export async function hasRenditions(db: Database, hash: string, keys: readonly string[]): Promise<boolean> {
  const { rows } = await sql<{ complete: boolean }>`
    select renditions ?& ${keys}::text[] as complete from files where hash = ${hash}`.execute(db);
  return rows[0]?.complete === true;
}

/**
 * Creates an asset from stored bytes, with its tags, its field values and the jobs that render it and fill its fields,
 * and returns its id. An asset without anything to render is ready immediately (MEDIA-5).
 */
export async function insertAsset(tx: Tx, asset: NewAsset): Promise<string> {
  const { fields } = asset;
  const waits = isRenderable(asset.mime) && !(await hasRenditions(tx, asset.hash, asset.ladderKeys));
  const row = await tx
    .insertInto('assets')
    .values({
      ...(asset.id === undefined ? {} : { id: asset.id }),
      owner_user_ref: asset.ownerRef,
      title: fields.title ?? titleFrom(asset.fileName),
      description: fields.description ?? '',
      asset_type: fields.asset_type ?? typeOfKind[asset.kind],
      status: fields.status ?? 'active',
      sensitivity: fields.sensitivity ?? defaultSensitivity,
      mature: fields.mature ?? false,
      ai_provenance: fields.ai_provenance ?? null,
      file_hash: asset.hash,
      file_name: asset.fileName,
      metadata: JSON.stringify(fields.metadata ?? {}),
      team_id: fields.team_id ?? null,
      state_id: asset.stateId ?? firstState,
      ...(asset.createdAt === undefined ? {} : { created_at: asset.createdAt }),
      processing_status: waits ? 'pending' : 'ready',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const tags = await registerTags(tx, fields.tags ?? []);
  if (tags.length > 0) {
    await tx
      .insertInto('asset_tags')
      .values(
        tags.map((value, position) => ({ asset_id: row.id, value, source: 'manual' as const, position })),
      )
      .execute();
  }
  await seedValues(tx, { kind: 'asset', id: row.id }, asset.ownerRef, asset.given ?? null);
  if (waits) await enqueueRender(tx, asset);
  else await copyEmbedded(tx, row.id, asset.hash);
  await enqueueExtract(tx, { hash: asset.hash, asset: row.id, ownerRef: asset.ownerRef });
  return row.id;
}
