import { type RawBuilder, sql } from 'kysely';
import { editableAssets, readableAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { editablePosts, readablePosts } from '../../access/posts.ts';
import { notifyPeersOfEach } from '../../core/outbox/enqueue.ts';
import { recordEdits } from '../../people/audit/record-edit.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import type { Sentence } from '../../platform/language/sentence.ts';
import { type Outcome, refused, type Step, type StepResult, type UndoRecord } from './step.ts';

export type SubjectKind = 'asset' | 'post';

/** The table, the alias that access rules use, the owner and the rules of each kind of subject. */
const subjects = {
  asset: {
    from: sql`assets a`,
    alias: sql`a`,
    owner: sql`a.owner_user_ref`,
    readable: readableAssets,
    editable: editableAssets,
    notEditable: () => refuse('not-owner').sentence,
  },
  post: {
    from: sql`posts p`,
    alias: sql`p`,
    owner: sql`p.author_user_ref`,
    readable: readablePosts,
    editable: editablePosts,
    notEditable: () => refuse('not-author').sentence,
  },
} as const;

/** A row that the caller may read; actions add the columns that decide. */
export interface ReadRow {
  id: string;
  owner: number | null;
  /** Whether the action may be done to it. */
  allowed: boolean;
}

/** A row to write, and what undoing the change needs. */
export interface Changed<Row extends ReadRow> {
  readonly row: Row;
  readonly record: UndoRecord;
}

export interface RowAction<Row extends ReadRow> {
  readonly subject: SubjectKind;
  /** The columns of `Row` besides those of ReadRow. */
  readonly columns?: RawBuilder<unknown>;
  readonly joins?: RawBuilder<unknown>;
  /** Which objects the action may be done to; by default those that the caller may edit. */
  readonly allowed?: (caller: SignedIn) => RawBuilder<boolean>;
  /** Why the others are refused; by default because they are not the caller's. */
  readonly notAllowed?: Sentence;
  /** Reads what else decides about these rows, which are locked and may be changed. */
  prepare?(rows: readonly Row[]): Promise<void>;
  /** Decides about one row; `record` is that of the batch to be undone. */
  judge(row: Row, record: UndoRecord | null): Outcome;
  /** Writes all rows that change, with their `updated_at`. */
  write(changed: readonly Changed<Row>[]): Promise<void>;
  /** The properties and fields that an audit event of a foreign object names; null if `write` records its own events. */
  readonly edited: readonly string[] | null;
  /** The properties that the history of one asset names; by default all that are `edited`. */
  properties?(changed: Changed<Row>): readonly string[];
  /** False if `write` informs peers itself, or if nothing of the rows changes for them. */
  readonly notifies?: false;
}

/**
 * Reads the rows of a step under the read rule, in the order of their ids so that two batches cannot deadlock, decides
 * about each, and writes those that change. A missing row and one that the caller may not read are the same refusal.
 */
export async function changeRows<Row extends ReadRow>(
  { tx, caller, items, isDryRun }: Step,
  action: RowAction<Row>,
): Promise<StepResult> {
  const { from, alias, owner, readable, editable, notEditable } = subjects[action.subject];
  const allowed = action.allowed ?? editable;
  const columns = action.columns === undefined ? sql`` : sql`, ${action.columns}`;
  const { rows } = await sql<Row>`
    select ${alias}.id, ${owner} as owner, ${allowed(caller)} as allowed ${columns}
    from ${from} ${action.joins ?? sql``} where ${alias}.id = any(${items.map(({ id }) => id)}::uuid[]) and ${readable(caller)}
    order by ${alias}.id ${isDryRun ? sql`` : sql`for no key update of ${alias}`}`.execute(tx);
  await action.prepare?.(rows.filter((row) => row.allowed));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const outcomes = new Map<string, Outcome>();
  const changed: Changed<Row>[] = [];
  for (const { id, record } of items) {
    const row = byId.get(id);
    const outcome =
      row === undefined
        ? refused(notFound().sentence)
        : row.allowed
          ? action.judge(row, record)
          : refused(action.notAllowed ?? notEditable());
    outcomes.set(id, outcome);
    if (row !== undefined && outcome.outcome === 'changed') changed.push({ row, record: outcome.record });
  }
  if (isDryRun || changed.length === 0) return { outcomes };
  await action.write(changed);
  if (action.notifies !== false) {
    const ids = changed.map(({ row }) => row.id);
    await notifyPeersOfEach(tx, action.subject, ids, caller.ref);
  }
  const { edited } = action;
  if (edited !== null) {
    const objects = changed.map((change) => ({
      kind: action.subject,
      id: change.row.id,
      owner: change.row.owner,
      properties: action.properties?.(change) ?? edited,
    }));
    await recordEdits(tx, caller, objects, edited);
  }
  return { outcomes };
}
