import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { lockFile } from '../../../content/assets/insert.ts';
import { enqueue } from '../../../core/job-table.ts';
import { registerTags } from '../../../core/tag-register.ts';
import { MAKERS_VERSION } from '../../../media/renderable.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { receiveValues } from '../fields/use.ts';
import { isMirrored, isShown, type MirroredRendition } from '../files/mirrored-renditions.ts';
import type { AaAsset } from '../protocol/objects.ts';
import { findMirrored, isLater, rememberMirrored } from './objects.ts';
import { setRecipients } from './recipients.ts';
import { receiveSubtitles } from './subtitles.ts';
import { mirrorTeam } from './team.ts';

const assetTypeOf: Readonly<Record<string, number>> = {
  image: 1,
  document: 2,
  video: 3,
  audio: 4,
  model: 5,
  font: 6,
};

/** The bytes of a mirrored asset, and whether all their renditions have been fetched. */
interface MirroredFile {
  key: string;
  complete: boolean;
}

/**
 * Stores the peer's description of bytes. They are stored under a random key, never under the hash that the peer names:
 * that hash would give the readers of the mirror a private file of this library or of another peer (FED-70).
 */
async function storeFileOf(tx: Tx, peerId: string, asset: AaAsset): Promise<MirroredFile> {
  const { hash, contentType, size } = asset.url;
  const renditions = Object.fromEntries(
    Object.entries(asset.renditions).filter(
      ([, { url }]) => url.contentType === null || isShown(url.contentType),
    ),
  );
  const row = await tx
    .selectFrom('files')
    .select('hash as key')
    .where('origin_peer_id', '=', peerId)
    .where('origin_hash', '=', hash)
    .executeTakeFirst();
  const key = row?.key ?? randomBytes(32).toString('hex');
  await lockFile(tx, key);
  const { rows } = await sql<{ size_bytes: number; renditions: Record<string, MirroredRendition> }>`
    insert into files (hash, size_bytes, mime, extension, pixel_width, pixel_height, thumbhash, media, makers_version,
      origin_peer_id, origin_hash, origin_renditions, origin_key)
    values (${key}, ${size ?? 0}, ${contentType}, ${asset.extension ?? null}, ${asset.width ?? null}, ${asset.height ?? null},
      ${asset.thumbhash ?? null}, ${JSON.stringify(asset.media)}::jsonb, ${MAKERS_VERSION}, ${peerId}, ${hash},
      ${JSON.stringify(renditions)}::jsonb,
      ${asset.contentKey === undefined ? null : Buffer.from(asset.contentKey, 'base64url')})
    on conflict (hash) do update set origin_key = coalesce(excluded.origin_key, files.origin_key),
      origin_renditions = excluded.origin_renditions, media = excluded.media,
      pixel_width = excluded.pixel_width, pixel_height = excluded.pixel_height, thumbhash = excluded.thumbhash
    returning size_bytes, renditions`.execute(tx);
  const [file] = rows;
  if (file === undefined) throw new Error('the bytes of a mirrored asset were not stored');
  const original = { hash, size: file.size_bytes };
  const complete = Object.entries(renditions).every(([name, { url }]) =>
    isMirrored(file.renditions[name], url, original),
  );
  if (!complete) await enqueue(tx, 'fetch-renditions', { hash: key }, { key: `fetch-renditions:${key}` });
  return { key, complete };
}

/** Enqueues the release of an asset's previous bytes, if they differ from the current ones. */
async function releaseEarlier(tx: Tx, assetId: string, key: string): Promise<void> {
  const rows = await tx
    .selectFrom('assets')
    .select('file_hash')
    .where('id', '=', assetId)
    .where('file_hash', '<>', key)
    .execute();
  for (const { file_hash: hash } of rows) {
    await enqueue(tx, 'release-bytes', { hash }, { key: `release:${hash}` });
  }
}

/** The object that contained the asset. */
export interface Arrival {
  /** The address of the post, or of the asset when it came by itself. */
  uri: string;
  /** The accounts that the envelope was encrypted for; null if it came plain. */
  recipients: readonly number[] | null;
}

/**
 * Creates or updates the mirror of an asset, owned by a person of the peer, and returns its local id. A restricted or
 * mature one that came encrypted is restricted here and given to its recipients (FED-55).
 */
export async function mirrorAsset(
  tx: Tx,
  peerId: string,
  ownerRef: number,
  asset: AaAsset,
  { uri, recipients }: Arrival,
): Promise<string> {
  const known = await findMirrored(tx, peerId, 'asset', asset.id);
  if (known !== null && isLater(known, asset.updated)) return known.local_id;
  const { key, complete } = await storeFileOf(tx, peerId, asset);
  if (known !== null) await releaseEarlier(tx, known.local_id, key);
  const status = complete ? 'ready' : 'pending';
  const secret = recipients !== null && (asset.sensitivity === 'restricted' || asset.mature);
  const type = assetTypeOf[asset.assetKind] ?? 7;
  const { rows } =
    known === null
      ? await sql<{
          id: string;
        }>`insert into assets (owner_user_ref, title, description, asset_type, sensitivity, mature,
            file_hash, file_name, state_id, processing_status, origin_peer_id, created_at)
          values (${ownerRef}, ${asset.name}, ${asset.content}, ${type}, ${secret ? 'restricted' : 'posts'}, ${asset.mature},
            ${key}, ${asset.fileName}, (select id from workflow_states where domain = 'asset' and code = 'wip'),
            ${status}, ${peerId}, least(${asset.published}::timestamptz, now())) returning id`.execute(tx)
      : await sql<{ id: string }>`update assets set title = ${asset.name}, description = ${asset.content},
            sensitivity = case when ${secret} then 'restricted' when sensitivity = 'restricted' then 'posts' else sensitivity end,
            asset_type = ${type}, mature = ${asset.mature}, file_hash = ${key}, file_name = ${asset.fileName},
            processing_status = ${status}, updated_at = now()
          where id = ${known.local_id} returning id`.execute(tx);
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('a mirrored asset was not stored');
  const tags = await registerTags(tx, asset.tags);
  await sql`delete from asset_tags where asset_id = ${id} and value <> all(${tags}::text[])`.execute(tx);
  await sql`insert into asset_tags (asset_id, value, source, position)
    select ${id}, t.value, 'manual', t.place - 1 from unnest(${tags}::text[]) with ordinality as t (value, place)
    on conflict (asset_id, value) do update set position = excluded.position`.execute(tx);
  await rememberMirrored(tx, peerId, 'asset', asset.id, id, asset.updated);
  const team = await mirrorTeam(tx, peerId, asset.team);
  await tx
    .updateTable('assets')
    .set({ team_id: team })
    .where('id', '=', id)
    .where('team_id', 'is distinct from', team)
    .execute();
  await setRecipients(tx, peerId, id, uri, secret ? recipients : []);
  await receiveSubtitles(tx, id, asset.subtitles);
  await receiveValues(tx, peerId, asset.id, { kind: 'asset', id }, asset.fields);
  return id;
}
