import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import { recordEvents } from '../../../people/audit/record.ts';
import { fillKeys } from '../../../platform/database/fill-keys.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { isUniqueViolation } from '../../../platform/database/unavailable.ts';
import { termKey } from './terms.ts';

/** Aliases per transaction. */
const BATCH = 5000;

interface Alias {
  field_id: string;
  alias: string;
  value: string;
}

/** Fills in the keys of the next aliases, and returns those that were removed; null when all have a key. */
async function fillAliases(tx: Tx): Promise<Alias[] | null> {
  const { rows } = await sql<Alias>`select field_id, alias, value from field_term_aliases where key is null
    order by field_id, alias limit ${BATCH} for update`.execute(tx);
  if (rows.length === 0) return null;
  const keyed = rows.map((row) => ({ ...row, key: termKey(row.alias) }));
  const { rows: known } = await sql<{ field_id: string; key: string }>`select x.field_id, x.key
    from field_term_aliases x join jsonb_to_recordset(${JSON.stringify(keyed)}::jsonb) as n (field_id uuid, key text)
      on x.field_id = n.field_id and x.key = n.key`.execute(tx);
  const taken = new Set(known.map(({ field_id, key }) => `${field_id} ${key}`));
  const kept: typeof keyed = [];
  const removed: Alias[] = [];
  for (const row of keyed) {
    const key = `${row.field_id} ${row.key}`;
    if (taken.has(key)) removed.push(row);
    else kept.push(row);
    taken.add(key);
  }
  await sql`delete from field_term_aliases x using jsonb_to_recordset(${JSON.stringify(removed)}::jsonb) as n
    (field_id uuid, alias text) where x.field_id = n.field_id and x.alias = n.alias`.execute(tx);
  await sql`update field_term_aliases x set key = n.key
    from jsonb_to_recordset(${JSON.stringify(kept)}::jsonb) as n (field_id uuid, alias text, key text)
    where x.field_id = n.field_id and x.alias = n.alias`.execute(tx);
  await recordEvents(
    tx,
    null,
    removed.map(({ field_id, alias, value }) => ({
      event: 'field.alias.removed',
      target: { kind: 'field' as const, id: field_id },
      metadata: { alias, value, reason: 'same_name' },
    })),
  );
  return removed;
}

async function keepAliasKeys({ db, log }: Pick<Deps, 'log'> & { db: Database }): Promise<void> {
  for (;;) {
    const removed = await db
      .transaction()
      .execute(fillAliases)
      .catch((error: unknown) => {
        // The same alias has just been added: the batch is done again.
        if (isUniqueViolation(error)) return [];
        throw error;
      });
    if (removed === null) return;
    for (const alias of removed)
      log.warn(alias, 'removed an alias that another alias of the field is in a different spelling');
  }
}

/**
 * Gives labels and aliases of terms the keys by which they are found (NAME-8). Labels need not be unique; of aliases
 * with the same key in a field, the first stays. Repeating it changes nothing.
 */
export async function keepTermKeys(deps: Pick<Deps, 'db' | 'log'>): Promise<void> {
  await fillKeys(deps.db, { table: 'field_terms', name: 'label', key: 'label_key' }, termKey);
  await keepAliasKeys(deps);
}
