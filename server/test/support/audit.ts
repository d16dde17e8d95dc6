import { type Selectable, sql } from 'kysely';
import type { Tables } from '../../src/platform/database/tables.ts';
import type { Library } from './library.ts';

type AuditEvent = Selectable<Tables['audit_events']>;

/** Returns the audit events whose columns have these values, the oldest first. */
export function auditEvents(
  { deps: { db } }: Library,
  where: Partial<Pick<AuditEvent, 'event' | 'actor_user_ref' | 'subject_user_ref' | 'target_id'>> = {},
): Promise<AuditEvent[]> {
  let query = db.selectFrom('audit_events').selectAll();
  for (const [column, value] of Object.entries(where)) query = query.where(sql.ref(column), '=', value);
  return query.orderBy('occurred_at').orderBy('id').execute();
}

/** Returns the audit events that are recorded during `act`. */
export async function auditEventsDuring(
  library: Library,
  act: () => Promise<unknown>,
): Promise<AuditEvent[]> {
  const before = new Set((await auditEvents(library)).map(({ id }) => id));
  await act();
  return (await auditEvents(library)).filter(({ id }) => !before.has(id));
}
