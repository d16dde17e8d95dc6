import type { FieldStatus, FieldType } from '@vitrine/contract/fields';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { knownFields, writableFields } from '../../access/field-values.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { appliesTo, definitionsFor, type Subject } from './subject.ts';

/** What of a definition decides about its values. */
export interface Definition {
  id: string;
  code: string;
  label: string;
  type: FieldType;
  options: Record<string, unknown>;
  open_vocabulary: boolean;
  required: boolean;
  read_only: boolean;
  regexp_filter: string | null;
  mirrors_column: 'title' | 'description' | null;
  status: FieldStatus;
  /** Whether it is for this subject. */
  applies: boolean;
}

/** A definition with what the caller's capabilities say of it. */
export interface CallersDefinition extends Definition {
  writable: boolean;
  write_capability: string | null;
}

/** Columns of Definition for `fields d`. */
export function definitionColumns(subject: Subject): RawBuilder<Definition> {
  return sql`d.id, d.code, d.label, d.type, d.options, d.open_vocabulary, d.required, d.read_only, d.regexp_filter,
    d.mirrors_column, d.status, ${appliesTo(subject.kind)} as applies`;
}

/** Which definitions: by these ids and codes. */
export interface Wanted {
  ids: readonly string[];
  codes: readonly string[];
}

/**
 * How firmly a definition is held until the transaction ends: `share` lets nobody archive it meanwhile, `terms` lets
 * nobody else write its terms either.
 */
export type Hold = 'share' | 'terms';

/** Definitions the caller may know of, held; in one order for everybody, so that two callers never wait in a ring. */
export async function holdDefinitions(
  tx: Tx,
  caller: SignedIn,
  subject: Subject,
  wanted: Wanted,
  hold: Hold,
): Promise<CallersDefinition[]> {
  const { rows } = await sql<CallersDefinition>`
    select ${definitionColumns(subject)}, ${writableFields(caller, subject.kind)} as writable, d.write_capability
    from ${definitionsFor(subject)}
    where (d.id = any(${[...wanted.ids]}::uuid[]) or d.code = any(${[...wanted.codes]}::text[]))
      and ${knownFields(caller, subject.kind)}
    order by d.id for ${hold === 'share' ? sql`share` : sql`no key update`} of d`.execute(tx);
  return rows;
}

/**
 * spec 2.7 rules 8 and 10: whether people may write values of this field here at all. 403 for what nobody may or the
 * caller may not, 409 for what the definition has no room for any more.
 */
export function checkWritable(field: CallersDefinition, { clears = false, seeds = false } = {}): void {
  const { code } = field;
  if (field.read_only && !seeds) throw refuse(403, `${code} is read-only`);
  if (!field.writable) throw refuse(403, `missing capability ${field.write_capability} to write ${code}`);
  if (field.status === 'archived') throw refuse(409, `${code} is archived`);
  if (field.status === 'deprecated' && !clears)
    throw refuse(409, `${code} is deprecated and takes no new values`);
  if (!field.applies && !clears) throw refuse(409, `${code} is not for assets of this type`);
}
