import { pipeline } from 'node:stream/promises';
import { type AuditEvent, exportAudit, listAudit } from '@vitrine/contract/audit';
import type { PostAuthor } from '@vitrine/contract/identity';
import { type RawBuilder, sql } from 'kysely';
import { titleOfTarget } from '../../access/audited.ts';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson, readerOfNames, seesPersonalData } from '../../access/identities.ts';
import { handle } from '../../core/handle.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { timeCursor } from '../../platform/http/cursor.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { recordEvent } from './record.ts';

interface Filters {
  actor?: number;
  subject?: number;
  event?: string;
  from?: string;
  to?: string;
}

interface EventRow
  extends Columns<
    'audit_events',
    'id' | 'event' | 'actor_user_ref' | 'subject_user_ref' | 'target_kind' | 'target_id' | 'occurred_at'
  > {
  actor: PostAuthor | null;
  subject: PostAuthor | null;
  target_title: string | null;
  metadata: Record<string, unknown>;
}

/** Personal data in an event's metadata; shown with `users.pii.read` only. */
const personal = ['address', 'user_agent', 'email', 'fullname'];

/** Words of mail servers that earlier versions recorded; never shown (NOTICE-15). */
const hidden = ['answer'];

function conditions({ actor, subject, event, from, to }: Filters): RawBuilder<boolean>[] {
  const found: RawBuilder<boolean>[] = [];
  // An impersonating administrator is an actor too.
  if (actor !== undefined)
    found.push(sql`(e.actor_user_ref = ${actor} or e.impersonator_user_ref = ${actor})`);
  if (subject !== undefined) found.push(sql`e.subject_user_ref = ${subject}`);
  if (event?.endsWith('*')) found.push(sql`starts_with(e.event, ${event.slice(0, -1)})`);
  else if (event !== undefined && event !== '') found.push(sql`e.event = ${event}`);
  if (from !== undefined) found.push(sql`e.occurred_at >= ${from}::timestamptz`);
  if (to !== undefined) found.push(sql`e.occurred_at < ${to}::timestamptz`);
  return found;
}

function shown(row: EventRow, withPersonal: boolean): AuditEvent {
  const metadata = Object.entries(row.metadata).filter(
    ([key]) => !hidden.includes(key) && (withPersonal || !personal.includes(key)),
  );
  return {
    id: row.id,
    event: row.event,
    actor_user_ref: row.actor_user_ref,
    ...(row.actor === null ? {} : { actor: row.actor }),
    ...(row.subject_user_ref === null ? {} : { subject_user_ref: row.subject_user_ref }),
    ...(row.subject === null ? {} : { subject: row.subject }),
    ...(row.target_kind === null ? {} : { target_kind: row.target_kind }),
    ...(row.target_id === null ? {} : { target_id: row.target_id }),
    ...(row.target_title === null || row.target_title === '' ? {} : { target_title: row.target_title }),
    metadata: Object.fromEntries(metadata),
    occurred_at: row.occurred_at,
  };
}

async function pageOfEvents(db: Database, caller: SignedIn, filters: Filters, query: PageQuery) {
  const page = newestFirst(query, 'e.occurred_at', 'e.id');
  const names = readerOfNames(caller);
  const { rows } = await sql<EventRow>`
    select e.id, e.event, e.actor_user_ref, ${identityJson(names, 'au')} as actor, e.subject_user_ref,
      ${identityJson(names, 'su')} as subject, e.target_kind, e.target_id,
      ${titleOfTarget(caller)} as target_title, e.metadata, e.occurred_at
    from audit_events e left join users au on au.ref = e.actor_user_ref
      left join users su on su.ref = e.subject_user_ref
    where ${sql.join([page.after, ...conditions(filters)], sql` and `)} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.occurred_at, id: row.id }));
  const withPersonal = seesPersonalData(caller);
  return { items: cut.rows.map((row) => shown(row, withPersonal)), next_cursor: cut.next };
}

export const list = handle(listAudit, async ({ db }, { caller, query }) => ({
  status: 200,
  body: await pageOfEvents(db, caller, query, query),
}));

const BATCH = 200;
const columns = [
  'occurred_at',
  'event',
  'actor_user_ref',
  'actor',
  'subject_user_ref',
  'subject',
  'target_kind',
  'target_id',
  'metadata',
];

/** Yields every event from the newest to the oldest, in batches, so that the log may have any length. */
async function* everyEvent(db: Database, caller: SignedIn, filters: Filters): AsyncIterable<AuditEvent> {
  let cursor: string | undefined;
  while (true) {
    const page = await pageOfEvents(db, caller, filters, {
      limit: BATCH,
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield* page.items;
    const last = page.items.at(-1);
    if (page.next_cursor === null || last === undefined) return;
    cursor = timeCursor.after({ at: last.occurred_at, id: last.id });
  }
}

async function* csvRows(events: AsyncIterable<AuditEvent>): AsyncIterable<Record<string, unknown>> {
  for await (const event of events) {
    const { metadata, actor, subject } = event;
    yield {
      ...event,
      actor: actor?.username,
      subject: subject?.username,
      metadata: JSON.stringify(metadata),
    };
  }
}

/**
 * Exports the log as CSV; escapes cells that a spreadsheet would run as formulas. The export is recorded as an event.
 */
export const exportCsv = handle(exportAudit, async ({ db, log }, { caller, query }) => {
  await db
    .transaction()
    .execute((tx) => recordEvent(tx, caller, { event: 'audit.exported', metadata: { ...query } }));
  const { stringify } = await import('csv-stringify');
  const csv = stringify({ header: true, columns, escape_formulas: true });
  pipeline(csvRows(everyEvent(db, caller, query)), csv).catch((error: unknown) => {
    // The client closed the connection.
    if (error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    log.error({ err: error }, 'the audit log could not be exported');
  });
  return {
    status: 200,
    body: csv,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="audit.csv"',
      'cache-control': 'no-store',
    },
  };
});
