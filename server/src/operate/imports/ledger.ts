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
}

/** Reads what was imported from a system. `record` also serves the rest of this run, even if its transaction fails: a run ends then. */
export async function openLedger(db: Database, system: string): Promise<Ledger> {
  const rows = await db
    .selectFrom('imported_ids')
    .select(['kind', 'old_id', 'target', 'fingerprint'])
    .where('system', '=', system)
    .execute();
  const entries = new Map(
    rows.map(({ kind, old_id, target, fingerprint }) => [`${kind} ${old_id}`, { target, fingerprint }]),
  );
  return {
    find: (kind, id) => entries.get(`${kind} ${id}`),
    idsOf: (kind) =>
      [...entries.keys()].flatMap((key) => (key.startsWith(`${kind} `) ? [key.slice(kind.length + 1)] : [])),
    async record(tx, kind, id, target, fingerprint = '') {
      await tx
        .insertInto('imported_ids')
        .values({ system, kind, old_id: String(id), target: String(target), fingerprint })
        .onConflict((conflict) =>
          conflict
            .columns(['system', 'kind', 'old_id'])
            .doUpdateSet({ target: String(target), fingerprint, imported_at: sql<string>`now()` }),
        )
        .execute();
      entries.set(`${kind} ${id}`, { target: String(target), fingerprint });
    },
  };
}
