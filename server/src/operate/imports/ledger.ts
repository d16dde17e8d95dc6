import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';

/** What kinds of old things are recorded (IMPORT-1). */
type Kind =
  | 'user'
  | 'group'
  | 'team'
  | 'audience'
  | 'type'
  | 'state'
  | 'field'
  | 'node'
  | 'resource'
  | 'alternative'
  | 'original'
  | 'alternative-file'
  | 'collection'
  | 'post'
  | 'comment'
  | 'annotation'
  | 'link'
  | 'request'
  | 'tags'
  | 'readers'
  | 'members'
  | 'texts'
  | 'linked-files'
  | 'relation'
  | 'film';

/** A thing of the earlier system, and what it has become here. */
interface Entry {
  target: string;
  fingerprint: string;
}

interface NewEntry extends Entry {
  id: number | string;
}

/** What an earlier run has imported. */
export interface Ledger {
  find(kind: Kind, id: number | string): Entry | undefined;
  /** The old ids of a kind. */
  idsOf(kind: Kind): string[];
  /** Records a thing in the transaction that creates it. */
  record(
    tx: Database,
    kind: Kind,
    id: number | string,
    target: string | number,
    fingerprint?: string,
  ): Promise<void>;
  /** Records things of one kind, each id once, in one statement. */
  recordAll(tx: Database, kind: Kind, entries: readonly NewEntry[]): Promise<void>;
}

/**
 * Reads what was imported from a system. What is recorded also serves the rest of this run, even if its transaction fails,
 * because the run ends then.
 */
export async function openLedger(db: Database, system: string): Promise<Ledger> {
  const rows = await db
    .selectFrom('imported_ids')
    .select(['kind', 'old_id', 'target', 'fingerprint'])
    .where('system', '=', system)
    .execute();
  const entries = new Map(
    rows.map(({ kind, old_id, target, fingerprint }) => [`${kind} ${old_id}`, { target, fingerprint }]),
  );
  const recordAll: Ledger['recordAll'] = async (tx, kind, added) => {
    if (added.length === 0) return;
    const rows = added.map(({ id, ...entry }) => ({ system, kind, old_id: String(id), ...entry }));
    await tx
      .insertInto('imported_ids')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['system', 'kind', 'old_id']).doUpdateSet(({ ref }) => ({
          target: ref('excluded.target'),
          fingerprint: ref('excluded.fingerprint'),
          imported_at: sql<string>`now()`,
        })),
      )
      .execute();
    for (const { id, target, fingerprint } of added) entries.set(`${kind} ${id}`, { target, fingerprint });
  };
  return {
    find: (kind, id) => entries.get(`${kind} ${id}`),
    idsOf: (kind) =>
      [...entries.keys()].flatMap((key) => (key.startsWith(`${kind} `) ? [key.slice(kind.length + 1)] : [])),
    record: (tx, kind, id, target, fingerprint = '') =>
      recordAll(tx, kind, [{ id, target: String(target), fingerprint }]),
    recordAll,
  };
}
