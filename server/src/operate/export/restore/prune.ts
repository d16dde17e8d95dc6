import type pg from 'pg';

interface ForeignKey {
  child: string;
  parent: string;
  columns: string[];
  targets: string[];
  /** Whether the reference is emptied when its target is removed; otherwise the row goes with it. */
  empties: boolean;
}

/** Reads the foreign keys, as long as they exist. */
export async function readForeignKeys(client: pg.ClientBase): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(`
    select k.conrelid::regclass::text as child, k.confrelid::regclass::text as parent, k.confdeltype = 'n' as empties,
      array(select quote_ident(a.attname) from unnest(k.conkey) with ordinality x (num, place)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = x.num order by x.place) as columns,
      array(select quote_ident(a.attname) from unnest(k.confkey) with ordinality x (num, place)
        join pg_attribute a on a.attrelid = k.confrelid and a.attnum = x.num order by x.place) as targets
    from pg_constraint k where k.contype = 'f' and k.connamespace = 'public'::regnamespace order by k.conname`);
  return rows;
}

function dangling({ columns, targets, parent }: ForeignKey): string {
  const given = columns.map((column) => `c.${column} is not null`).join(' and ');
  const equal = columns.map((column, at) => `p.${targets[at] ?? ''} = c.${column}`).join(' and ');
  return `${given} and not exists (select from ${parent} p where ${equal})`;
}

/**
 * Removes rows that refer to what an export does not have, such as content of peers, as if it had been removed with them.
 * Returns their number.
 */
export async function pruneDangling(client: pg.ClientBase, keys: readonly ForeignKey[]): Promise<number> {
  let removed = 0;
  for (;;) {
    let changed = 0;
    for (const key of keys) {
      const statement = key.empties
        ? `update ${key.child} c set ${key.columns.map((column) => `${column} = null`).join(', ')} where ${dangling(key)}`
        : `delete from ${key.child} c where ${dangling(key)}`;
      const { rowCount } = await client.query(statement);
      changed += rowCount ?? 0;
      if (!key.empties) removed += rowCount ?? 0;
    }
    if (changed === 0) return removed;
  }
}
