import type { ExtractionMode, FieldType } from '@vitrine/contract/fields';
import type { ExtractionSource } from '@vitrine/contract/limits';
import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';

/** A field that is filled from files. */
export interface WiredField {
  id: string;
  code: string;
  type: FieldType;
  source: ExtractionSource;
  mode: Exclude<ExtractionMode, ''>;
  /** Its asset types; none means all. */
  applies_to: number[];
}

/**
 * FIELD-39: reads the current wiring of one field or of all. Not cached between jobs, so that the next one sees an edit
 * on every process.
 */
export async function readWiring(db: Database, fieldId: string | null): Promise<WiredField[]> {
  const { rows } = await sql<WiredField>`
    select id, code, type, extraction_source as source, applies_to,
      coalesce(nullif(extraction_mode, ''), 'skip_if_set') as mode
    from fields where extraction_source <> '' and status = 'active' and subject_kind = 'asset'
      and ${fieldId === null ? sql`true` : sql`id = ${fieldId}`}
    order by id`.execute(db);
  return rows;
}

/** Returns whether a field applies to assets of this type. */
export function fits({ applies_to }: Pick<WiredField, 'applies_to'>, assetType: number): boolean {
  return applies_to.length === 0 || applies_to.includes(assetType);
}
