import type { ValueChange } from '@vitrine/contract/field-values';
import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { disclosedReference, readableFields } from '../../access/field-values.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import type { Subject } from './subject.ts';

/**
 * Whether the caller is shown the values of this subject; 404 for a field they may not know of. In this order: about
 * an asset whose columns are withheld nothing is said at all.
 */
async function isShown(db: Database, caller: Caller, subject: Subject, fieldId: string): Promise<boolean> {
  const { rows } =
    subject.kind === 'asset'
      ? await sql<{ known: boolean }>`
          select exists (select from fields d where d.id = ${fieldId} and ${readableFields(caller, 'asset')}) as known
          from assets a where a.id = ${subject.id} and ${shownAssets(caller)}`.execute(db)
      : await sql<{ known: boolean }>`
          select exists (select from fields d
            where d.id = ${fieldId} and ${readableFields(caller, 'collection')}) as known`.execute(db);
  const [row] = rows;
  if (row === undefined) return false;
  if (!row.known) throw notFound();
  return true;
}

/**
 * A page of the changes of one value, newest first, by the rules of reading the value itself: changes that name an
 * asset the caller is not shown are left out.
 */
export async function readHistory(
  db: Database,
  caller: Caller,
  subject: Subject,
  fieldId: string,
  query: PageQuery,
): Promise<{ items: ValueChange[]; next_cursor: string | null }> {
  const page = newestFirst(query, 'h.at', 'h.id');
  if (!(await isShown(db, caller, subject, fieldId))) return { items: [], next_cursor: null };
  const { rows } = await sql<ValueChange>`
    select h.id, h.before, h.after, h.set_by, h.actor_user_ref as set_by_user_ref, h.at from field_value_history h
    where h.subject_kind = ${subject.kind} and h.subject_id = ${subject.id} and h.field_id = ${fieldId}
      and ${disclosedReference(caller, sql`(h.before ->> 'value_ref')::uuid`)}
      and ${disclosedReference(caller, sql`(h.after ->> 'value_ref')::uuid`)}
      and ${page.after} ${page.order}`.execute(db);
  const { rows: items, next } = page.cut(rows, ({ at, id }) => ({ at, id }));
  return { items, next_cursor: next };
}
