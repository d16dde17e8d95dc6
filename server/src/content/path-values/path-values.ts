import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';
import { type SystemWrite, writeSystemValue } from '../extraction/write-value.ts';
import type { PathPattern } from './path-patterns.ts';

/** A field that the paths of files fill. */
export interface FieldPattern {
  code: string;
  read: PathPattern;
}

/** A field that paths fill, with its id. */
export interface PathField extends FieldPattern {
  id: string;
}

/** A value that the path of a file gives to a field. */
export interface PathValue {
  id: string;
  code: string;
  text: string;
}

/** Finds the active fields of assets with the codes of the patterns, and the codes without one. */
export async function findPathFields(
  db: Database,
  patterns: readonly FieldPattern[],
): Promise<{ fields: PathField[]; unknown: string[] }> {
  const codes = patterns.map(({ code }) => code);
  const { rows } = await sql<{ id: string; code: string }>`
    select id, code from fields where code = any(${codes}::text[]) and subject_kind = 'asset' and status = 'active'`.execute(
    db,
  );
  const ids = new Map(rows.map(({ id, code }) => [code, id]));
  const fields = patterns.flatMap((pattern) => {
    const id = ids.get(pattern.code);
    return id === undefined ? [] : [{ ...pattern, id }];
  });
  return { fields, unknown: codes.filter((code) => !ids.has(code)) };
}

/** Returns the values that the path of a file gives, in the order of the fields' ids, in which they are locked. */
export function valuesOfPath(
  fields: readonly PathField[],
  { folder, name }: { folder: string; name: string },
): PathValue[] {
  const values = fields.flatMap(({ id, code, read }) => {
    const text = read(folder, name);
    return text === null ? [] : [{ id, code, text }];
  });
  return values.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Gives an asset the values of its path, before those of its file and without replacing what people wrote. Returns the
 * codes of fields that cannot hold their value.
 */
export async function writePathValues(
  db: Database,
  assetId: string,
  values: readonly PathValue[],
): Promise<string[]> {
  if (values.length === 0) return [];
  return db.transaction().execute(async (tx) => {
    const unfit: string[] = [];
    for (const { id, code, text } of values) {
      const write: SystemWrite = { assetId, fieldId: id, found: text, mode: 'replace', setBy: 'import' };
      if ((await writeSystemValue(tx, write)) === 'unfit') unfit.push(code);
    }
    return unfit;
  });
}
