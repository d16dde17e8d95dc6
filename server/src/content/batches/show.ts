import {
  type Batch,
  cancelBatch,
  getBatch,
  listBatches,
  listBatchItems,
  undoBatch,
} from '@vitrine/contract/batches';
import type { Language } from '@vitrine/contract/languages';
import { mostNamed } from '@vitrine/contract/limits';
import { type RawBuilder, sql } from 'kysely';
import { readableExports } from '../../access/account-data.ts';
import { ownBatches, readableBatches } from '../../access/batches.ts';
import type { SignedIn } from '../../access/caller.ts';
import { checkNotImpersonating, checkScope } from '../../access/door.ts';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import type { Columns, Database, Tx } from '../../platform/database/pool.ts';
import { refCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT, newestFirst } from '../../platform/http/page.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { sayStored } from '../../platform/language/sentence.ts';
import { pairOf, type SubjectAction } from './actions.ts';
import type { StoredAction } from './step.ts';
import { enqueueBatch } from './store.ts';

interface BatchRow
  extends Columns<
    'batches',
    | 'id'
    | 'state'
    | 'total'
    | 'changed'
    | 'unchanged'
    | 'refused'
    | 'undoes'
    | 'post_id'
    | 'created_at'
    | 'finished_at'
  > {
  subject: Batch['subject'];
  action: StoredAction['action'] | null;
  undone_by: string | null;
  refused_items: Batch['refused'];
  /** 24 hours after the end; null before it. */
  undo_until: string | null;
}

/** The id of an item `i`, as JSON: a number for accounts. */
const objectId = sql`coalesce(to_jsonb(i.object_ref), to_jsonb(i.object_id))`;

/** The most refused objects that are shown of a batch that runs, and of each batch of a list. */
const FEW_REFUSED = 100;

/** BATCH-8: changes can be undone for a day. `most`: how many refused objects are shown once it has ended. */
const columnsWith = (
  most: number,
) => sql`b.id, b.subject, b.action, b.state, b.total, b.changed, b.unchanged, b.refused, b.undoes,
  b.post_id, b.created_at, b.finished_at, (select u.id from batches u where u.undoes = b.id) as undone_by,
  coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'reason', r.reason) order by r.position) from (
    select ${objectId} as id, i.reason, i.position from batch_items i
    where i.batch_id = b.id and i.outcome = 'refused' order by i.position
    limit case when b.finished_at is null then ${FEW_REFUSED}::integer else ${most}::integer end) r), '[]') as refused_items,
  b.finished_at + interval '24 hours' as undo_until`;

const DAY_MS = 24 * 60 * 60_000;

/** Whether something undoes an action (BATCH-8, BATCH-14). */
function hasUndo({ subject, action }: StoredAction): boolean {
  if (subject === 'user') return action.kind !== 'end_sessions';
  // The action was stored with the kind of its objects.
  return pairOf({ subject, action } as SubjectAction).undo !== null;
}

/** Whether a batch may still be undone: it changed something, ended within a day, and is not undone already. */
function isUndoable({ subject, action, undone_by, changed, finished_at }: BatchRow): boolean {
  if (action === null || undone_by !== null || changed === 0 || finished_at === null) return false;
  return hasUndo({ subject, action }) && Date.parse(finished_at) + DAY_MS > Date.now();
}

function shown(row: BatchRow, language: Language): Batch {
  const { id, subject, state, total, changed, unchanged, refused, post_id, undoes, undone_by } = row;
  return {
    id,
    kind: row.action?.kind ?? 'undo',
    subject,
    state: state as Batch['state'],
    total,
    done: changed + unchanged + refused,
    changed,
    unchanged,
    refused: row.refused_items.map(({ id, reason }) => ({ id, reason: sayStored(language, reason) })),
    refused_count: refused,
    ...(post_id === null ? {} : { post_id }),
    ...(undoes === null ? {} : { undoes }),
    ...(undone_by === null ? {} : { undone_by }),
    created_at: row.created_at,
    ...(row.finished_at === null ? {} : { finished_at: row.finished_at }),
    ...(isUndoable(row) && row.undo_until !== null ? { undo_until: row.undo_until } : {}),
  };
}

async function readBatches(
  db: Database,
  condition: RawBuilder<boolean>,
  { end = sql``, mostRefused }: { end?: RawBuilder<unknown>; mostRefused: number },
): Promise<BatchRow[]> {
  const { rows } = await sql<BatchRow>`
    select ${columnsWith(mostRefused)} from batches b where ${condition} ${end}`.execute(db);
  return rows;
}

/** Returns one batch; throws the same 404 for an unknown one and for one that the caller may not see. */
async function readOne(
  db: Database,
  id: string,
  rule: RawBuilder<boolean>,
  mostRefused = FEW_REFUSED,
): Promise<BatchRow> {
  const [row] = await readBatches(db, sql`b.id = ${id} and ${rule}`, { mostRefused });
  if (row === undefined) throw notFound();
  return row;
}

export const list = handle(listBatches, async ({ db }, { caller, query, http }) => {
  const language = readerLanguage(caller, http);
  const page = newestFirst(query, 'b.created_at', 'b.id');
  const rows = await readBatches(db, sql`${ownBatches(caller)} and ${page.after}`, {
    end: page.order,
    mostRefused: FEW_REFUSED,
  });
  const cut = page.cut(rows, ({ created_at, id }) => ({ at: created_at, id }));
  return { status: 200, body: { items: cut.rows.map((row) => shown(row, language)), next_cursor: cut.next } };
});

/** Returns the export of an account with this id as a batch; null if the caller may not see it (EXPORT-17). */
async function readExport(db: Database, caller: SignedIn, id: string): Promise<Batch | null> {
  const { rows } = await sql<
    Columns<'account_exports', 'id' | 'total' | 'files' | 'created_at' | 'finished_at'> & {
      state: 'queued' | 'running' | 'done' | 'failed';
    }
  >`select e.id, e.state, e.total, e.files, e.created_at, e.finished_at from account_exports e
    where e.id = ${id} and ${readableExports(caller)}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { state, files, total, created_at, finished_at } = row;
  return {
    id,
    kind: 'export',
    subject: 'user',
    state,
    total: Math.max(total, files),
    done: files,
    changed: files,
    unchanged: 0,
    refused: [],
    refused_count: 0,
    created_at,
    ...(finished_at === null ? {} : { finished_at }),
  };
}

export const get = handle(getBatch, async ({ db }, { caller, params, http }) => {
  const own = await readExport(db, caller, params.id);
  const body =
    own ??
    shown(await readOne(db, params.id, readableBatches(caller), mostNamed), readerLanguage(caller, http));
  return { status: 200, body };
});

interface ItemRow extends Columns<'batch_items', 'reason' | 'position'> {
  id: string | number;
  outcome: 'changed' | 'unchanged' | 'refused';
}

export const items = handle(listBatchItems, async ({ db }, { caller, params, query, http }) => {
  await readOne(db, params.id, readableBatches(caller));
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = refCursor.read(query.cursor)?.ref ?? 0;
  const only = query.outcome === undefined ? sql`is not null` : sql`= ${query.outcome}`;
  const { rows } = await sql<ItemRow>`
    select ${objectId} as id, i.outcome, i.reason, i.position from batch_items i
    where i.batch_id = ${params.id} and i.position > ${after}::bigint and i.outcome ${only}
    order by i.position limit ${limit + 1}`.execute(db);
  const page = cutPage(rows, limit, ({ position }) => refCursor.after({ ref: position }));
  const language = readerLanguage(caller, http);
  const shownItems = page.items.map(({ id, outcome, reason }) => ({
    id,
    outcome,
    ...(reason === null ? {} : { reason: sayStored(language, reason) }),
  }));
  return { status: 200, body: { items: shownItems, next_cursor: page.next_cursor } };
});

/** A token needs the scope of the batch's objects. */
function checkSubjectScope(caller: SignedIn, { subject }: BatchRow): void {
  checkScope(caller, subject === 'user' ? 'admin' : `${subject}s.write`);
}

export const cancel = handle(cancelBatch, async ({ db }, { caller, params, http }) => {
  checkSubjectScope(caller, await readOne(db, params.id, ownBatches(caller)));
  const { numAffectedRows } = await sql`update batches set state = 'cancelled', finished_at = now()
    where id = ${params.id} and state in ('queued', 'running')`.execute(db);
  if (numAffectedRows === 0n) throw refuse('batch-ended');
  return {
    status: 200,
    body: shown(await readOne(db, params.id, ownBatches(caller), mostNamed), readerLanguage(caller, http)),
  };
});

/** Stores a batch that undoes another: of each changed object, what it was before and after. */
async function storeUndo(tx: Tx, caller: SignedIn, row: BatchRow): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into batches (subject, undoes, user_ref, token_id, impersonator_user_ref, total)
    values (${row.subject}, ${row.id}, ${caller.ref}, ${caller.token?.id ?? null}, ${caller.impersonator?.ref ?? null},
      ${row.changed})
    on conflict (undoes) do nothing returning id`.execute(tx);
  const [undo] = rows;
  // Another request was faster.
  if (undo === undefined) throw refuse('batch-not-undoable');
  await sql`insert into batch_items (batch_id, position, object_id, object_ref, record)
    select ${undo.id}, row_number() over (order by i.position), i.object_id, i.object_ref, i.record from batch_items i
    where i.batch_id = ${row.id} and i.outcome = 'changed'`.execute(tx);
  await enqueueBatch(tx, undo.id);
  return undo.id;
}

export const undo = handle(undoBatch, async ({ db }, { caller, params }) => {
  const id = await db.transaction().execute(async (tx) => {
    const row = await readOne(tx, params.id, ownBatches(caller));
    checkSubjectScope(caller, row);
    if (row.subject === 'user') checkNotImpersonating(caller);
    if (!isUndoable(row)) throw refuse('batch-not-undoable');
    return storeUndo(tx, caller, row);
  });
  return { status: 202, body: { job_id: id } };
});
