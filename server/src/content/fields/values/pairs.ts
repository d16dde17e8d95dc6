import type { SetBy } from '@vitrine/contract/field-values';
import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import {
  appliesToAsset,
  disclosedReference,
  knownFields,
  writableFields,
} from '../../../access/field-values.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { notFound, Refusal } from '../../../platform/http/refuse.ts';
import { type CallersDefinition, checkWritable } from './rules.ts';
import type { ValueColumns } from './typed-value.ts';

/** An asset and one of its fields. */
export interface Pair {
  readonly assetId: string;
  readonly fieldId: string;
}

export const pairKey = ({ assetId, fieldId }: Pair) => `${assetId} ${fieldId}`;

/** What a field allows the caller on one asset, and its value there, that of the mirrored column included. */
export interface PairRow extends ValueColumns {
  asset_id: string;
  field_id: string;
  known: boolean;
  applies: boolean;
  writable: boolean;
  write_capability: string | null;
  /** Whether the caller may see the asset that the value names, if it names one. */
  disclosed: boolean;
  set_by: SetBy | null;
  set_at: string | null;
}

/** Reads many fields of many assets at once, by `pairKey`. */
export async function readPairs(
  tx: Tx,
  caller: SignedIn,
  pairs: readonly Pair[],
): Promise<Map<string, PairRow>> {
  const assetIds = pairs.map(({ assetId }) => assetId);
  const fieldIds = pairs.map(({ fieldId }) => fieldId);
  const { rows } = await sql<PairRow>`
    select a.id as asset_id, d.id as field_id, ${knownFields(caller, 'asset')} as known, ${appliesToAsset} as applies,
      ${writableFields(caller, 'asset')} as writable, d.write_capability,
      ${disclosedReference(caller, sql`v.value_ref`)} as disclosed,
      case d.mirrors_column when 'title' then nullif(a.title, '') when 'description' then nullif(a.description, '')
        else v.value_text end as value_text,
      v.value_num, v.value_date, v.value_offset, v.value_options, v.value_ref, v.set_by, v.set_at
    from unnest(${assetIds}::uuid[], ${fieldIds}::uuid[]) as p (asset_id, field_id)
      join assets a on a.id = p.asset_id join fields d on d.id = p.field_id
      left join asset_field_values v on v.asset_id = a.id and v.field_id = d.id`.execute(tx);
  return new Map(rows.map((row) => [pairKey({ assetId: row.asset_id, fieldId: row.field_id }), row]));
}

/** Returns the error of writing the field of this asset; null if the caller may write it. */
export function refusalOfPair(
  field: Omit<CallersDefinition, 'applies' | 'writable' | 'write_capability'>,
  {
    known,
    applies,
    writable,
    write_capability,
  }: Pick<PairRow, 'known' | 'applies' | 'writable' | 'write_capability'>,
  clears: boolean,
): Refusal | null {
  if (!known) return notFound();
  try {
    checkWritable({ ...field, applies, writable, write_capability }, { clears });
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
