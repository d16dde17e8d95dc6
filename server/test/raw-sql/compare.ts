import pg from 'pg';
import type { ResultColumn } from './describe-result.ts';
import type { PropertyType } from './row-types.ts';

/** What the catalog and `tables.ts` say of a table's column. */
interface TableColumn {
  name: string;
  isNullable: boolean;
  /** Null for tables of others, such as the job queue's. */
  declared: PropertyType | null;
}

/** What is known of the database that statements are compared with. */
export interface Catalog {
  columnOf(column: ResultColumn): TableColumn | null;
  /** Returns the kind of JavaScript value that the driver makes of a type. */
  kindOf(type: number): string;
}

type Parse = (type: number) => (text: string) => unknown;

/** A text of each type that the driver converts, by the beginning of its name. */
const samples: readonly (readonly [RegExp, string])[] = [
  [/^(int|float|numeric|oid)/, '1'],
  [/^bool/, 't'],
  [/^bytea/, '\\x00'],
  [/^(timestamp|date)/, '2026-01-01 00:00:00+00'],
];

function sampleOf(type: string): string {
  if (type.startsWith('_')) return `{${sampleOf(type.slice(1)).replaceAll('\\', '\\\\')}}`;
  return samples.find(([name]) => name.test(type))?.[1] ?? 'a';
}

function kindOfValue(value: unknown): string {
  if (Array.isArray(value)) return `${kindOfValue(value[0])}[]`;
  if (Buffer.isBuffer(value)) return 'bytes';
  return value instanceof Date ? 'date' : typeof value;
}

/** Reads the catalog of a migrated database. */
export async function readCatalog(
  client: pg.PoolClient,
  parse: Parse,
  declared: ReadonlyMap<string, PropertyType>,
): Promise<Catalog> {
  const { rows: columns } = await client.query<{ at: string; name: string; nullable: boolean }>(`
    select a.attrelid || '.' || a.attnum as at, c.relname || '.' || a.attname as name, not a.attnotnull as nullable
    from pg_attribute a join pg_class c on c.oid = a.attrelid where a.attnum > 0 and c.relkind = 'r'`);
  const { rows: types } = await client.query<{ oid: number; name: string }>(
    'select oid, typname as name from pg_type',
  );
  const byPlace = new Map(columns.map((column) => [column.at, column]));
  const names = new Map(types.map(({ oid, name }) => [oid, name]));
  return {
    columnOf({ table, column }) {
      const found = byPlace.get(`${table}.${column}`);
      if (found === undefined) return null;
      return { name: found.name, isNullable: found.nullable, declared: declared.get(found.name) ?? null };
    },
    kindOf(type) {
      const name = names.get(type) ?? '';
      if (type === pg.types.builtins.JSON || type === pg.types.builtins.JSONB) return 'anything';
      return kindOfValue(parse(type)(sampleOf(name)));
    },
  };
}

const outerJoin = /\b(left|right|full)\s+(outer\s+)?join\b/i;

/** Returns whether a statement compares a column, which excludes null and may exclude some of its texts. */
function compares(text: string, column: string): boolean {
  const name = `\\b${column}\\b"?`;
  return new RegExp(`${name}\\s*(is not null|=|<|>|in\\b)|[=<>]\\s*("?\\w+"?\\.)?"?${name}`, 'i').test(text);
}

/** How the result of a statement differs from the declared type of its rows. */
export interface Differences {
  wrong: readonly string[];
  /** Values that the type admits and the result never has. */
  tooWide: readonly string[];
}

function compareColumn(
  text: string,
  column: ResultColumn,
  property: PropertyType,
  catalog: Catalog,
): Differences {
  const { name } = column;
  const wrong: string[] = [];
  const tooWide: string[] = [];
  // What JSON holds is unknown to PostgreSQL.
  if (property.kinds.has('anything')) return { wrong, tooWide };
  const kind = catalog.kindOf(column.type);
  if (kind !== 'anything' && !property.kinds.has(kind))
    wrong.push(`${name} is a ${kind}, not a ${[...property.kinds].join(' or ')}`);
  const source = catalog.columnOf(column);
  if (source === null) return { wrong, tooWide };
  const isCompared = compares(text, source.name.split('.')[1] ?? name);
  if (source.isNullable && !property.nullable && !isCompared)
    wrong.push(`${name} may be null (${source.name})`);
  if (!source.isNullable && property.nullable && !outerJoin.test(text))
    tooWide.push(`${name} is never null (${source.name})`);
  const { texts } = property;
  const stored = source.declared?.texts ?? null;
  if (texts === null || stored === null) return { wrong, tooWide };
  const undeclared = [...stored].filter((one) => !texts.has(one));
  if (undeclared.length > 0 && !isCompared) wrong.push(`${name} may be ${undeclared.join(', ')}`);
  const impossible = [...texts].filter((one) => !stored.has(one));
  if (impossible.length > 0) tooWide.push(`${name} is never ${impossible.join(', ')}`);
  return { wrong, tooWide };
}

/** Compares the columns of a statement's result with the declared properties of its rows. */
export function compareRow(
  text: string,
  columns: readonly ResultColumn[],
  declared: ReadonlyMap<string, PropertyType>,
  catalog: Catalog,
): Differences {
  const returned = new Set(columns.map(({ name }) => name));
  const missing = [...declared].filter(([name, { optional }]) => !optional && !returned.has(name));
  const each = columns.map((column): Differences => {
    const property = declared.get(column.name);
    if (property !== undefined) return compareColumn(text, column, property, catalog);
    return { wrong: [`${column.name} is not declared`], tooWide: [] };
  });
  return {
    wrong: [...missing.map(([name]) => `${name} is not returned`), ...each.flatMap(({ wrong }) => wrong)],
    tooWide: each.flatMap(({ tooWide }) => tooWide),
  };
}
