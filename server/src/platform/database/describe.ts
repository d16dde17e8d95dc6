import type pg from 'pg';

interface Column {
  table_name: string;
  unlogged: boolean;
  column_name: string;
  type: string;
  nullable: boolean;
  has_default: boolean;
  generated: 'always' | 'identity' | 'no';
  default_text: string | null;
}

interface Definition {
  table_name: string;
  name: string;
  definition: string;
}

const columnsQuery = `
  select c.relname as table_name, c.relpersistence = 'u' as unlogged, a.attname as column_name, format_type(a.atttypid, a.atttypmod) as type,
    not a.attnotnull as nullable, d.adbin is not null or a.attidentity <> '' as has_default,
    case when a.attgenerated = 's' then 'always' when a.attidentity = 'a' then 'identity' else 'no' end as generated,
    pg_get_expr(d.adbin, d.adrelid) as default_text
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid and c.relkind = 'r'
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped
  order by c.relname, a.attnum`;

// PostgreSQL 18 lists NOT NULL among the constraints, 15 does not; the columns already state it.
const constraintsQuery = `
  select c.relname as table_name, k.conname as name, pg_get_constraintdef(k.oid) as definition
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where k.connamespace = 'public'::regnamespace and k.contype in ('p', 'u', 'f', 'c')
  order by c.relname, k.contype desc, k.conname`;

const indexesQuery = `
  select tablename as table_name, indexname as name, indexdef as definition from pg_indexes
  where schemaname = 'public' and indexname not in (select conname from pg_constraint)
  order by tablename, indexname`;

const triggersQuery = `
  select c.relname as table_name, t.tgname as name, pg_get_triggerdef(t.oid) as definition
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where not t.tgisinternal and c.relnamespace = 'public'::regnamespace order by c.relname, t.tgname`;

const functionsQuery = `
  select '' as table_name, p.proname as name, pg_get_functiondef(p.oid) as definition
  from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
    and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  order by p.proname`;

/** The types that the driver returns, by PostgreSQL's names (see pool.ts). */
const scriptTypes: Record<string, string> = {
  bigint: 'number',
  integer: 'number',
  smallint: 'number',
  real: 'number',
  'double precision': 'number',
  text: 'string',
  uuid: 'string',
  boolean: 'boolean',
  jsonb: 'Json',
  bytea: 'Buffer',
  date: 'string',
  'text[]': 'string[]',
  'integer[]': 'number[]',
};

/** Parses `CHECK ((status = ANY (ARRAY['a'::text, 'b'::text])))` into the column and a union of literals. */
function literalsOf(definition: string): { column: string; union: string } | null {
  const found = /^CHECK \(\(\(?(\w+) = ANY \(ARRAY\[(.*)\]\)/.exec(definition);
  if (found?.[1] === undefined || found[2] === undefined) return null;
  const values = [...found[2].matchAll(/'([^']*)'::text/g)].map((match) => `'${match[1]}'`);
  return { column: found[1], union: values.join(' | ') };
}

function scriptType(column: Column, unions: Map<string, string>): string {
  const base =
    unions.get(`${column.table_name}.${column.column_name}`) ??
    (column.type.startsWith('timestamp') ? 'string' : (scriptTypes[column.type] ?? 'unknown'));
  if (base === 'Json') {
    return column.nullable ? 'NullableJson' : column.has_default ? 'DefaultedJson' : 'Json';
  }
  const read = column.nullable ? `${base} | null` : base;
  if (column.generated !== 'no') return `GeneratedAlways<${read}>`;
  return column.has_default ? `Generated<${read}>` : read;
}

function groupByTable<T extends { table_name: string }>(rows: T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) groups.set(row.table_name, [...(groups.get(row.table_name) ?? []), row]);
  return groups;
}

function pascal(name: string): string {
  return name.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase());
}

function tablesModule(columns: Map<string, Column[]>, constraints: Definition[]): string {
  const unions = new Map<string, string>();
  for (const { table_name, definition } of constraints) {
    const literals = literalsOf(definition);
    if (literals !== null) unions.set(`${table_name}.${literals.column}`, literals.union);
  }
  const interfaces = [...columns].map(([table, columnsOfTable]) => {
    const lines = columnsOfTable.map((column) => `  ${column.column_name}: ${scriptType(column, unions)};`);
    return `interface ${pascal(table)}Table {\n${lines.join('\n')}\n}\n`;
  });
  const members = [...columns.keys()].map((table) => `  ${table}: ${pascal(table)}Table;`);
  return [
    '// Written by `npm run schema` from a migrated database; a test fails when it is stale.',
    "import type { ColumnType, Generated, GeneratedAlways } from 'kysely';\n",
    '/** Read as the parsed value, written as its JSON text. */',
    'type Json = ColumnType<unknown, string, string>;',
    'type DefaultedJson = ColumnType<unknown, string | undefined, string>;',
    'type NullableJson = ColumnType<unknown, string | null | undefined, string | null>;\n',
    ...interfaces,
    `export interface Tables {\n${members.join('\n')}\n}\n`,
  ].join('\n');
}

function schemaText(
  columns: Map<string, Column[]>,
  constraints: Map<string, Definition[]>,
  indexes: Map<string, Definition[]>,
  triggers: Map<string, Definition[]>,
  functions: Definition[],
): string {
  const tables = [...columns].map(([table, columnsOfTable]) => {
    const lines = columnsOfTable.map((column) => {
      const rest = [
        column.nullable ? '' : ' not null',
        column.generated === 'identity' ? ' generated always as identity' : '',
        column.default_text === null
          ? ''
          : column.generated === 'always'
            ? ` generated always as (${column.default_text}) stored`
            : ` default ${column.default_text}`,
      ].join('');
      return `  ${column.column_name} ${column.type}${rest}`;
    });
    const rules = (constraints.get(table) ?? []).map((c) => `  constraint ${c.name} ${c.definition}`);
    const after = [...(indexes.get(table) ?? []), ...(triggers.get(table) ?? [])].map(
      (i) => `${i.definition};\n`,
    );
    const kind = columnsOfTable.some((column) => column.unlogged) ? 'unlogged table' : 'table';
    return `create ${kind} ${table} (\n${[...lines, ...rules].join(',\n')}\n);\n${after.join('')}`;
  });
  const bodies = functions.map((f) => `${f.definition.trim()};\n`);
  return `-- The schema as it stands after every migration. Written by \`npm run schema\`.\n\n${[...bodies, ...tables].join('\n')}`;
}

/** Describes the schema of a migrated database: as SQL for readers, and as the module of Kysely's table types. */
export async function describeSchema(pool: pg.Pool): Promise<{ sql: string; module: string }> {
  const columns = groupByTable((await pool.query<Column>(columnsQuery)).rows);
  const constraints = (await pool.query<Definition>(constraintsQuery)).rows;
  const indexes = (await pool.query<Definition>(indexesQuery)).rows;
  const triggers = (await pool.query<Definition>(triggersQuery)).rows;
  const functions = (await pool.query<Definition>(functionsQuery)).rows;
  return {
    sql: schemaText(
      columns,
      groupByTable(constraints),
      groupByTable(indexes),
      groupByTable(triggers),
      functions,
    ),
    module: tablesModule(columns, constraints),
  };
}
