import type { Asset, ShownAsset, SubtitleTrack, TagDetail, WithheldAsset } from '@vitrine/contract/assets';
import type { Origin } from '@vitrine/contract/federation';
import type { CardField } from '@vitrine/contract/field-values';
import type { PostAuthor } from '@vitrine/contract/identity';
import type { Legacy } from '@vitrine/contract/legacy';
import { type RawBuilder, sql } from 'kysely';
import {
  anonymouslyVisible,
  maySeeSensitivity,
  readableAssets,
  servesAsset,
  shownAssets,
} from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { identityJson, originJson, ownerName } from '../../access/identities.ts';
import { legacyJson } from '../../access/legacy.ts';
import { type StackOfAsset, stackJson } from '../../access/stacks.ts';
import type { KeptAsset, Texts } from '../../core/kept-texts.ts';
import { keysOf, type Rung } from '../../media/ladder.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { cardColumn } from '../fields/values/show.ts';
import { extensionOf } from './file-name.ts';
import { relatedIds } from './related-ids.ts';

/** An asset as read for a caller; `shown` is the result of the field rule. */
export interface AssetRow
  extends Columns<
      'assets',
      | 'title'
      | 'description'
      | 'asset_type'
      | 'owner_user_ref'
      | 'status'
      | 'sensitivity'
      | 'mature'
      | 'file_hash'
      | 'file_name'
      | 'processing_status'
    >,
    Columns<'files', 'extension' | 'size_bytes' | 'thumbhash' | 'pixel_width' | 'pixel_height'> {
  asset_id: string;
  shown: boolean;
  anonymously_visible: boolean;
  owner: PostAuthor | null;
  owner_name: string | null;
  asset_ai_provenance: ShownAsset['ai_provenance'];
  tag_details: TagDetail[] | null;
  subtitle_tracks: SubtitleTrack[] | null;
  metadata: Record<string, unknown>;
  asset_state_id: string | null;
  asset_team_id: string | null;
  origin: Origin | null;
  root: KeptAsset['root'];
  missing: boolean;
  has_col: boolean;
  has_ladder: boolean;
  has_cues: boolean;
  card_fields: CardField[] | null;
  legacy: Legacy | null;
  asset_created_at: string;
  /** When it was taken, or added if that is not known. */
  asset_taken_at: string;
  asset_updated_at: string;
  asset_deleted_at: string | null;
  asset_deleted_reason: string | null;
  film_hash: string | null;
}

/** Converts a row of `subtitles s` for the contract. */
export const trackJson = sql<SubtitleTrack>`json_build_object('lang', s.lang, 'label', s.label, 'file_hash', s.file_hash,
  'source_format', s.source_format, 'confidence', s.confidence)`;

/**
 * Columns of AssetRow for `assets a`, `files f` and `users o` (the owner), joined by assetJoins; `shown` is the field
 * rule.
 */
export function assetColumns(
  caller: Caller,
  ladder: readonly Rung[],
  shown: RawBuilder<boolean> = shownAssets(caller),
): RawBuilder<AssetRow> {
  const keys = keysOf(ladder);
  return sql`a.id as asset_id, ${shown} as shown,
    ${anonymouslyVisible} as anonymously_visible, a.title, a.description, a.asset_type, a.owner_user_ref,
    ${identityJson(caller, 'o')} as owner, ${ownerName(caller, 'o')} as owner_name, a.status, a.sensitivity,
    a.mature, a.ai_provenance as asset_ai_provenance, a.file_hash, a.file_name, f.extension, f.size_bytes,
    (select json_agg(json_build_object('value', t.value, 'source', t.source, 'confidence', t.confidence,
        'created_by_provider', t.created_by_provider, 'created_by_model', t.created_by_model)
        order by t.position, t.value)
      from asset_tags t where t.asset_id = a.id) as tag_details,
    (select json_agg(${trackJson} order by s.lang) from subtitles s where s.asset_id = a.id) as subtitle_tracks,
    a.metadata, a.state_id as asset_state_id, a.team_id as asset_team_id, ${originJson('a')} as origin, a.processing_status,
    case when a.root_id is not null then json_build_object('id', a.root_id, 'path', a.root_path) end as root,
    a.missing_since is not null as missing, a.film_hash,
    (f.renditions ? 'col' or a.interim_hash is not null) as has_col,
    (f.renditions ?& ${keys}::text[] or a.interim_hash is not null) as has_ladder,
    f.renditions ? 'sprites.vtt' as has_cues, ${thumbhashColumn},
    ${ofInterim(sql.ref('pixel_width'))} as pixel_width, ${ofInterim(sql.ref('pixel_height'))} as pixel_height,
    ${cardColumn(caller)} as card_fields, ${legacyJson(caller, 'resource', 'a.id')} as legacy,
    a.created_at as asset_created_at, coalesce(a.taken_at, a.created_at) as asset_taken_at, a.updated_at as asset_updated_at,
    a.deleted_at as asset_deleted_at, a.deleted_reason as asset_deleted_reason`;
}

/** A column of the file whose picture is shown: while a new version is prepared, of the one before (VERSION-6). */
function ofInterim(column: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when a.interim_hash is null then f.${column}
    else (select i.${column} from files i where i.hash = a.interim_hash) end`;
}

/** MEDIA-11: only pictures have a thumbhash, although other files with previews have one in the database. */
export const thumbhashColumn = sql`case when f.mime like 'image/%' then f.thumbhash end as thumbhash`;

export const assetJoins = sql`join files f on f.hash = a.file_hash left join users o on o.ref = a.owner_user_ref`;

/** ASSET-5: exactly `id`, `restricted` and, if it may be shown, `owner_display_name`. */
function withheld(row: AssetRow): WithheldAsset {
  const name = row.owner_name === null ? {} : { owner_display_name: row.owner_name };
  return { id: row.asset_id, restricted: true, ...name };
}

/** What decides about the parts of an asset that depend on the caller. */
type DecisiveRow = Omit<KeptAsset, 'version' | 'text'> & Pick<AssetRow, 'card_fields'>;

type CallersPart = Pick<
  ShownAsset,
  'sensitivity' | 'root' | 'preview_available' | 'ladder_available' | 'scrub_available' | 'card_fields'
>;

/** The parts of an asset that depend on the caller: what they may see of its settings, bytes and values. */
function callersPart(caller: Caller, row: DecisiveRow): CallersPart {
  const place = { ownerRef: row.owner_user_ref, teamId: row.asset_team_id };
  const served = row.asset_deleted_at === null && servesAsset(caller, { ...place, mature: row.mature });
  return {
    ...(maySeeSensitivity(caller, place) ? { sensitivity: row.sensitivity } : {}),
    ...(row.root !== null && maySeeSensitivity(caller, place) ? { root: row.root } : {}),
    preview_available: served && row.has_col,
    ladder_available: served && row.has_ladder,
    scrub_available: served && row.has_cues,
    ...(row.card_fields === null ? {} : { card_fields: row.card_fields }),
  };
}

/** The parts of an asset that are the same for every caller of a kind, signed in or not. */
function commonPart(row: AssetRow): Omit<ShownAsset, keyof CallersPart> {
  const details = row.tag_details ?? [];
  return {
    id: row.asset_id,
    restricted: false,
    title: row.title,
    description: row.description,
    asset_type: row.asset_type,
    owner_user_ref: row.owner_user_ref,
    ...(row.owner === null ? {} : { owner: row.owner }),
    status: row.status,
    mature: row.mature,
    ai_provenance: row.asset_ai_provenance,
    file_hash: row.file_hash,
    file_extension: extensionOf(row),
    file_size_bytes: row.size_bytes,
    tags: details.map((detail) => detail.value),
    tag_details: details,
    metadata: row.metadata,
    state_id: row.asset_state_id,
    ...(row.asset_team_id === null ? {} : { team_id: row.asset_team_id }),
    ...(row.origin === null ? {} : { origin: row.origin }),
    processing_status: row.processing_status,
    ...(row.missing ? { missing: true as const } : {}),
    ...(row.film_hash === null ? {} : { film: { hash: row.film_hash } }),
    anonymously_visible: row.anonymously_visible,
    // The thumbhash stands for a picture that is not served; a withheld asset has none.
    thumbhash: row.thumbhash,
    pixel_width: row.pixel_width,
    pixel_height: row.pixel_height,
    subtitle_tracks: row.subtitle_tracks ?? [],
    created_at: row.asset_created_at,
    updated_at: row.asset_updated_at,
    ...(row.asset_deleted_at === null
      ? {}
      : { deleted_at: row.asset_deleted_at, deleted_reason: row.asset_deleted_reason }),
  };
}

/** ASSET-4: the asset with its columns. */
function shownAsset(caller: Caller, row: AssetRow): ShownAsset {
  const legacy = row.legacy === null ? {} : { legacy: row.legacy };
  return { ...commonPart(row), ...callersPart(caller, row), ...legacy };
}

/** Returns the asset with its columns or as a placeholder, by the field rule. */
export function showRow(caller: Caller, row: AssetRow): Asset {
  return row.shown ? shownAsset(caller, row) : withheld(row);
}

/** Returns the asset as `showRow` does, with its stack (STACK-2). */
export function showStacked(caller: Caller, row: AssetRow & { stack: StackOfAsset | null }): Asset {
  const asset = showRow(caller, row);
  return asset.restricted || row.stack === null ? asset : { ...asset, stack: row.stack };
}

/** Returns one asset under the read rule, shown or withheld; null when the caller may not read it. */
export async function showAsset(
  db: Database,
  caller: Caller,
  ladder: readonly Rung[],
  id: string,
): Promise<Asset | null> {
  const { rows } = await sql<AssetRow & { related: string[]; stack: StackOfAsset | null }>`
    select ${assetColumns(caller, ladder)}, ${relatedIds(caller, id)} as related, ${stackJson(caller)} as stack
    from assets a ${assetJoins} where a.id = ${id} and ${readableAssets(caller)}`.execute(db);
  const row = rows[0];
  if (row === undefined) return null;
  const asset = showStacked(caller, row);
  return asset.restricted ? asset : { ...asset, related: row.related };
}

/**
 * The version of the common part of an asset, with assetJoins: `xmin` changes with every committed change of a row;
 * tags and subtitles are hashed. Null for mirrored assets, whose origin it does not cover. A transaction that has
 * changed an asset must not cache it, because it may change it again under the same `xmin`.
 */
export const versionColumn: RawBuilder<string | null> = sql`case when a.origin_peer_id is null then
  concat_ws('.', a.xmin, f.xmin, coalesce(o.xmin::text, '-'),
    (select bit_xor(hash_record_extended(t, 0)) from asset_tags t where t.asset_id = a.id),
    (select bit_xor(hash_record_extended(s, 1)) from subtitles s where s.asset_id = a.id)) end as version`;

/** The columns that keptText needs. */
export interface VersionRow extends Pick<AssetRow, 'asset_id' | 'card_fields'> {
  version: string | null;
}

/** The columns that writtenText needs. */
export type FullRow = AssetRow & { version: string | null };
/** Columns of FullRow, with assetJoins. */
export function fullColumns(
  caller: Caller,
  ladder: readonly Rung[],
  shown: RawBuilder<boolean>,
): RawBuilder<FullRow> {
  return sql`${assetColumns(caller, ladder, shown)}, ${versionColumn}`;
}

function keyOf(caller: Caller, ladder: readonly Rung[], assetId: string): string {
  // Identities are shown to visitors in another form (IDENTITY-3).
  return `${caller.kind} ${assetId} ${keysOf(ladder).join(' ')}`;
}

/** Returns the asset as JSON; null unless this version is cached. */
export function keptText(
  texts: Texts<KeptAsset>,
  caller: Caller,
  ladder: readonly Rung[],
  { asset_id, version, card_fields }: VersionRow,
): string | null {
  const kept = version === null ? undefined : texts.get(keyOf(caller, ladder, asset_id));
  return kept === undefined || kept.version !== version ? null : finished(caller, kept, card_fields);
}

/** Returns the asset as JSON from all its columns, and caches it if it has a version. */
export function writtenText(
  texts: Texts<KeptAsset>,
  caller: Caller,
  ladder: readonly Rung[],
  row: FullRow,
): string {
  const { version, owner_user_ref, asset_team_id, mature, sensitivity, asset_deleted_at } = row;
  const { root, has_col, has_ladder, has_cues } = row;
  const text = JSON.stringify(commonPart(row)).slice(0, -1);
  const decisive = { owner_user_ref, asset_team_id, mature, sensitivity, asset_deleted_at, root };
  const kept = { version: version ?? '', text, ...decisive, has_col, has_ladder, has_cues };
  if (version !== null) texts.set(keyOf(caller, ladder, row.asset_id), kept);
  return finished(caller, kept, row.card_fields);
}

function finished(caller: Caller, kept: KeptAsset, card_fields: AssetRow['card_fields']): string {
  return `${kept.text},${JSON.stringify(callersPart(caller, { ...kept, card_fields })).slice(1)}`;
}
