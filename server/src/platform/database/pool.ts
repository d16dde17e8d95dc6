import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Tables } from './tables.ts';

/** The pool or a transaction: the first argument of everything that touches rows. */
export type Database = Kysely<Tables>;
export type Tx = Transaction<Tables>;

const INT8 = 20;
const FLOAT8 = 701;
const NUMERIC = 1700;
const TIMESTAMPTZ = 1184;

/** `2026-11-21 04:41:01.5+00` as RFC 3339 in UTC; the session's time zone is UTC (spec 2.1). */
function timestamp(text: string): string {
  return `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`;
}

/** Refs, counts and sizes fit a JavaScript number; times are sent as they stand. */
function typeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 || oid === NUMERIC || oid === FLOAT8) return Number;
  if (oid === TIMESTAMPTZ) return timestamp;
  return pg.types.getTypeParser(oid, format);
}

/**
 * Gives each statement text a name, so that PostgreSQL parses and plans it once a connection.
 * Bounded: past `most` different texts, further ones go unnamed.
 */
function statementNames(most: number): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined || names.size >= most) return known;
    if (!/^\s*(select|with|insert|update|delete)\b/i.test(text)) return undefined;
    const name = `v${names.size}`;
    names.set(text, name);
    return name;
  };
}

export interface DatabasePool {
  db: Database;
  /** The driver's pool, for the job queue, which speaks to it directly. */
  pool: pg.Pool;
  close(): Promise<void>;
}

/** Opens a pool of `connections` connections; connecting itself happens at the first query. */
export function openPool(settings: pg.PoolConfig, connections: number): DatabasePool {
  const pool = new pg.Pool({
    ...settings,
    max: connections,
    types: { getTypeParser: typeParser },
    options: '-c TimeZone=UTC -c statement_timeout=60s',
    keepAlive: true,
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  const nameOf = statementNames(500);
  const dialect = new PostgresDialect({
    pool: {
      async connect() {
        const client = await pool.connect();
        return {
          query: (text: string, values: unknown[]) => {
            const name = nameOf(text);
            return client.query(name === undefined ? { text, values } : { name, text, values });
          },
          release: () => client.release(),
        };
      },
      end: () => pool.end(),
    },
  });
  const db = new Kysely<Tables>({ dialect });
  return { db, pool, close: () => db.destroy() };
}
