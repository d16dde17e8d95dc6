import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../access/caller.ts';
import { keysOf, type Rung } from '../media/ladder.ts';
import { type AssetRow, assetColumns, callersPart, commonPart, type DecisiveRow } from './show.ts';

/** Roughly bytes, because most text is ASCII. */
const MOST_CHARACTERS = 32 * 1024 * 1024;

/** The part of an asset that is the same for every caller of a kind, as JSON, and what the rest depends on. */
interface Kept extends Omit<DecisiveRow, 'card_fields'> {
  version: string;
  /** Without the closing brace. */
  text: string;
}

/** Assets as text, the most recently used ones, within a bound of memory. */
export type AssetTexts = LRUCache<string, Kept>;

export function openAssetTexts(mostCharacters = MOST_CHARACTERS): AssetTexts {
  return new LRUCache({ maxSize: mostCharacters, sizeCalculation: ({ text }) => text.length + 200 });
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
export function fullColumns(caller: Caller, ladder: readonly Rung[]): RawBuilder<FullRow> {
  return sql`${assetColumns(caller, ladder)}, ${versionColumn}`;
}

function keyOf(caller: Caller, ladder: readonly Rung[], assetId: string): string {
  // Identities are shown to visitors in another form (IDENTITY-3).
  return `${caller.kind} ${assetId} ${keysOf(ladder).join(' ')}`;
}

/** Returns the asset as JSON; null unless this version is cached. */
export function keptText(
  texts: AssetTexts,
  caller: Caller,
  ladder: readonly Rung[],
  { asset_id, version, card_fields }: VersionRow,
): string | null {
  const kept = version === null ? undefined : texts.get(keyOf(caller, ladder, asset_id));
  return kept === undefined || kept.version !== version ? null : finished(caller, kept, card_fields);
}

/** Returns the asset as JSON from all its columns, and caches it if it has a version. */
export function writtenText(
  texts: AssetTexts,
  caller: Caller,
  ladder: readonly Rung[],
  row: FullRow,
): string {
  const { version, owner_user_ref, asset_team_id, mature, sensitivity, asset_deleted_at } = row;
  const { has_col, has_ladder, has_cues } = row;
  const text = JSON.stringify(commonPart(row)).slice(0, -1);
  const decisive = { owner_user_ref, asset_team_id, mature, sensitivity, asset_deleted_at };
  const kept = { version: version ?? '', text, ...decisive, has_col, has_ladder, has_cues };
  if (version !== null) texts.set(keyOf(caller, ladder, row.asset_id), kept);
  return finished(caller, kept, row.card_fields);
}

function finished(caller: Caller, kept: Kept, card_fields: AssetRow['card_fields']): string {
  return `${kept.text},${JSON.stringify(callersPart(caller, { ...kept, card_fields })).slice(1)}`;
}
