import { sql } from 'kysely';
import { lockFile } from '../../assets/insert.ts';
import { MAKERS_VERSION } from '../../media/renderable.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { enqueue } from '../../platform/jobs/enqueue.ts';
import type { AaAsset } from '../protocol/objects.ts';
import { findMirrored, rememberMirrored } from './objects.ts';

/** Types of renditions that are mirrored: what browsers show without running anything of it. */
const shownTypes =
  /^(?:image\/(?:webp|avif|jpeg|png|gif)|video\/(?:mp4|webm|mp2t)|audio\/(?:mp4|mpeg|ogg|webm|wav)|text\/(?:vtt|plain)|application\/(?:vnd\.apple\.mpegurl|json))$/;

const assetTypeOf: Readonly<Record<string, number>> = {
  image: 1,
  document: 2,
  video: 3,
  audio: 4,
  model: 5,
  font: 6,
};

/** Stores what is known of the bytes; bytes that this library has already are used as they are. */
async function storeFileOf(tx: Tx, peerId: string, asset: AaAsset): Promise<{ complete: boolean }> {
  const { hash, contentType, size } = asset.url;
  const renditions = Object.fromEntries(
    Object.entries(asset.renditions).filter(([, { url }]) => shownTypes.test(url.contentType)),
  );
  await lockFile(tx, hash);
  const { rows } = await sql<{ complete: boolean }>`
    insert into files (hash, size_bytes, mime, extension, pixel_width, pixel_height, thumbhash, media, makers_version,
      origin_peer_id, origin_renditions)
    values (${hash}, ${size}, ${contentType}, ${asset.extension ?? null}, ${asset.width ?? null}, ${asset.height ?? null},
      ${asset.thumbhash ?? null}, ${JSON.stringify(asset.media)}::jsonb, ${MAKERS_VERSION}, ${peerId},
      ${JSON.stringify(renditions)}::jsonb)
    on conflict (hash) do update set origin_renditions = case when files.origin_peer_id = excluded.origin_peer_id
      then excluded.origin_renditions else files.origin_renditions end
    returning origin_peer_id is null or renditions ?& array(select jsonb_object_keys(origin_renditions)) as complete`.execute(
    tx,
  );
  const complete = rows[0]?.complete === true;
  if (!complete) await enqueue(tx, 'fetch-renditions', { hash }, { key: `fetch-renditions:${hash}` });
  return { complete };
}

/** Creates or updates the mirror of an asset, owned by a person of the peer, and returns its local id. */
export async function mirrorAsset(tx: Tx, peerId: string, ownerRef: number, asset: AaAsset): Promise<string> {
  const known = await findMirrored(tx, peerId, 'asset', asset.id);
  if (known !== null && known.version > asset.updated) return known.local_id;
  const { complete } = await storeFileOf(tx, peerId, asset);
  const status = complete ? 'ready' : 'pending';
  const type = assetTypeOf[asset.assetKind] ?? 7;
  const { rows } =
    known === null
      ? await sql<{
          id: string;
        }>`insert into assets (owner_user_ref, title, description, asset_type, sensitivity, mature,
            file_hash, file_name, state_id, processing_status, origin_peer_id, created_at)
          values (${ownerRef}, ${asset.name}, ${asset.content}, ${type}, 'posts', ${asset.mature},
            ${asset.url.hash}, ${asset.fileName}, (select id from workflow_states where domain = 'asset' and code = 'wip'),
            ${status}, ${peerId}, ${asset.published}) returning id`.execute(tx)
      : await sql<{ id: string }>`update assets set title = ${asset.name}, description = ${asset.content},
            asset_type = ${type}, mature = ${asset.mature}, file_hash = ${asset.url.hash}, file_name = ${asset.fileName},
            processing_status = ${status}, updated_at = now()
          where id = ${known.local_id} returning id`.execute(tx);
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('a mirrored asset was not stored');
  await sql`delete from asset_tags where asset_id = ${id} and value <> all(${asset.tags}::text[])`.execute(
    tx,
  );
  await sql`insert into asset_tags (asset_id, value, source, position)
    select ${id}, t.value, 'manual', t.place - 1 from unnest(${asset.tags}::text[]) with ordinality as t (value, place)
    on conflict (asset_id, value) do update set position = excluded.position`.execute(tx);
  await rememberMirrored(tx, peerId, 'asset', asset.id, id, asset.updated);
  return id;
}

/** Gives an asset that was shared by itself the audience of its grants: everyone here, or the persons they name. */
export async function refreshAssetAudience(tx: Tx, peerId: string, uri: string): Promise<void> {
  await sql`with given as (
      select o.local_id, g.target_user_ref from federated_objects o
        join federation_grants g on g.peer_id = o.peer_id and g.uri = o.uri
      where o.kind = 'asset' and o.peer_id = ${peerId} and o.uri = ${uri}
        and (g.expires_at is null or g.expires_at > now())),
    dropped as (
      delete from asset_shares s using federated_objects o where o.kind = 'asset' and o.uri = ${uri}
        and s.asset_id = o.local_id and not exists (
          select from given g where g.local_id = s.asset_id and g.target_user_ref = s.user_ref)),
    added as (
      insert into asset_shares (asset_id, user_ref, shared_by_user_ref)
      select g.local_id, g.target_user_ref, a.owner_user_ref from given g join assets a on a.id = g.local_id
      where g.target_user_ref is not null on conflict do nothing)
    update assets a set sensitivity = case when exists (select from given where target_user_ref is null) then 'org' else 'posts' end
    from federated_objects o where o.kind = 'asset' and o.uri = ${uri} and a.id = o.local_id`.execute(tx);
}
