import pg from 'pg';

interface Column {
  name: string;
  type: string;
}

interface Reference {
  columns: string[];
  table: string;
  targets: string[];
}

interface Table {
  name: string;
  /** Columns that require a value. */
  columns: Column[];
  references: Reference[];
  checks: string[];
}

/** Columns that a check requires in addition, or whose values it restricts. */
const besides: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  activitypub_actors: { withdrawn_at: '2026-01-02T03:04:05.678Z' },
  asset_field_values: { value_text: 'sample' },
  batch_items: { object_id: '00000000-0000-4000-8000-000000000001' },
  batches: { action: '{}' },
  collection_field_values: { value_text: 'sample' },
  field_runs: { source: 'sample', target: 'other' },
  identity_providers: {
    name: 'sample',
    settings: JSON.stringify({
      label: 'Sample',
      enabled: true,
      creation: 'invited',
      allowed_domains: [],
      claims: {},
      default_role: 'member',
      role_mapping: [],
      team_mapping: [],
      trust_second_factor: false,
      clock_tolerance_seconds: 30,
      issuer: 'https://login.example',
      client_id: 'sample',
      scopes: ['openid'],
    }),
  },
  picture_vectors: { error: 'sample' },
};

/** Tables whose rows refer to two rows of another table. */
const twice: ReadonlySet<string> = new Set(['users', 'teams', 'files', 'assets']);

/** Returns the names of the tables without rows. */
async function emptyTables(client: pg.ClientBase): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string }>(`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`);
  const names = tables.map(
    ({ name }) => `case when not exists (select from ${name}) then ${pg.escapeLiteral(name)} end`,
  );
  const { rows } = await client.query<{ empty: string[] }>(
    `select array_remove(array[${names.join(', ')}]::text[], null) as empty`,
  );
  return rows[0]?.empty ?? [];
}

async function readTables(client: pg.ClientBase, names: readonly string[]): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `
    select c.relname as name,
      (select coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum), '[]')
        from pg_attribute a left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attnotnull and d.adbin is null
          and a.attidentity = '') as columns,
      (select coalesce(json_agg(json_build_object('table', k.confrelid::regclass::text,
          'columns', (select json_agg(a.attname order by x.at) from unnest(k.conkey) with ordinality x (num, at)
            join pg_attribute a on a.attrelid = k.conrelid and a.attnum = x.num),
          'targets', (select json_agg(a.attname order by x.at) from unnest(k.confkey) with ordinality x (num, at)
            join pg_attribute a on a.attrelid = k.confrelid and a.attnum = x.num))), '[]')
        from pg_constraint k where k.conrelid = c.oid and k.contype = 'f') as references,
      (select coalesce(json_agg(pg_get_constraintdef(k.oid)), '[]') from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'c') as checks
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relname = any($1) order by c.relname`,
    [names],
  );
  return rows;
}

/** The literal of the checks that a column gets: the first of a list, or the only one it is compared with. */
type Literal = 'listed' | 'single';

/** Returns a value that probably fits the column's type and the table's checks; `nth` makes it unique. */
function sampleOf({ name, type }: Column, checks: readonly string[], nth: number, first: Literal): string {
  const its = checks.filter((check) => new RegExp(`\\b${name}\\b`).test(check)).join(' ');
  const patterns = { listed: `\\b${name} = ANY \\(ARRAY\\['([^']*)'`, single: `\\b${name} = '([^']*)'` };
  const found = {
    listed: new RegExp(patterns.listed).exec(its)?.[1],
    single: new RegExp(patterns.single).exec(its)?.[1],
  };
  const literal = found[first] ?? found.listed ?? found.single;
  if (literal !== undefined) return literal;
  if (/\[0-9a-f\]\{64\}/.test(its)) return `a${nth}`.repeat(32);
  const octets = new RegExp(`octet_length\\(${name}\\) = (\\d+)`).exec(its)?.[1];
  if (type === 'bytea') return `\\x0${nth}${'07'.repeat(Number(octets ?? 8) - 1)}`;
  if (type.startsWith('bit')) return '1'.repeat(Number(/\d+/.exec(type)?.[0] ?? 1));
  if (type === 'uuid') return `00000000-0000-4000-8000-00000000000${nth}`;
  if (type === 'pg_lsn') return `0/${nth}000000`;
  if (type === 'boolean') return 'true';
  if (type.startsWith('timestamp')) return '2026-01-02T03:04:05.678Z';
  if (type === 'date') return '2026-01-02';
  if (type === 'json' || type === 'jsonb') return '{"a": [1, "\\\\N\\t\\u2603"]}';
  if (/int|real|double|numeric/.test(type)) return String(nth);
  if (type.endsWith('[]')) return '{sample}';
  if (type === 'tsvector') return "'sea':1";
  return `sample ${nth}`;
}

async function referenced(
  client: pg.ClientBase,
  { table, targets }: Reference,
  offset: number,
): Promise<unknown[] | null> {
  const columns = targets.map((column) => `${pg.escapeIdentifier(column)}::text`);
  const { rows } = await client.query({
    text: `select ${columns.join(', ')} from ${table} order by 1 offset ${offset} limit 1`,
    rowMode: 'array',
  });
  const [first]: unknown[][] = rows;
  return first ?? null;
}

/** Inserts a row; returns null or the reason of the failure. */
async function tryInsert(
  client: pg.ClientBase,
  table: Table,
  nth: number,
  first: Literal,
): Promise<string | null> {
  const { name, columns, references, checks } = table;
  const required = new Set(columns.map((column) => column.name));
  const values = new Map<string, unknown>(
    columns.map((column) => [column.name, sampleOf(column, checks, nth, first)]),
  );
  for (const [column, value] of Object.entries(besides[name] ?? {})) values.set(column, value);
  const seen = new Map<string, number>();
  for (const reference of references) {
    const isTarget = name === 'share_links' && reference.columns.includes('post_id');
    if (!isTarget && !reference.columns.every((column) => required.has(column))) continue;
    const offset = twice.has(reference.table) ? (seen.get(reference.table) ?? 0) : 0;
    seen.set(reference.table, offset + 1);
    const found = await referenced(client, reference, offset);
    if (found === null) return `${reference.table} has too few rows`;
    for (const [at, column] of reference.columns.entries()) values.set(column, found[at]);
  }
  const names = [...values.keys()].map((column) => pg.escapeIdentifier(column));
  const text =
    names.length === 0
      ? `insert into ${name} default values`
      : `insert into ${name} (${names.join(', ')}) values (${names.map((_, at) => `$${at + 1}`).join(', ')})`;
  await client.query('savepoint sample');
  try {
    await client.query(text, [...values.values()]);
    await client.query('release savepoint sample');
    return null;
  } catch (error) {
    await client.query('rollback to savepoint sample');
    return error instanceof Error ? error.message : String(error);
  }
}

async function insertSample(client: pg.ClientBase, table: Table, nth: number): Promise<string | null> {
  const why = await tryInsert(client, table, nth, 'listed');
  return why === null ? null : tryInsert(client, table, nth, 'single');
}

/**
 * Inserts a row into every empty table of any schema, in an order that foreign keys allow, with values derived from the
 * types and checks of the columns. Returns the tables that stay empty, with the reason.
 */
export async function fillEmptyTables(client: pg.ClientBase): Promise<Record<string, string>> {
  await client.query('begin');
  const isEmpty = async ({ name }: Table) =>
    (await client.query(`select from ${name} limit 1`)).rowCount === 0;
  const empty = await readTables(client, await emptyTables(client));
  let reasons: Record<string, string> = {};
  for (let before = empty.length + 1; empty.length < before; ) {
    before = empty.length;
    reasons = {};
    for (const table of [...empty]) {
      // A trigger may have filled the table meanwhile.
      const why = (await isEmpty(table)) ? await insertSample(client, table, 1) : null;
      if (why === null && twice.has(table.name)) await insertSample(client, table, 2);
      if (why === null) empty.splice(empty.indexOf(table), 1);
      else reasons[table.name] = why;
    }
  }
  await client.query('commit');
  return reasons;
}
