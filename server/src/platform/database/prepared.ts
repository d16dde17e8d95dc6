import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type pg from 'pg';

/**
 * Gives each statement text a name, so that PostgreSQL parses and plans it once a connection.
 * Bounded: past `most` different texts, further ones go unnamed.
 */
export function statementNames(most: number): (text: string) => string | undefined {
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

interface PooledConnection extends DatabaseConnection {
  release(): void;
}

function connectionOf(client: pg.PoolClient, nameOf: (text: string) => string | undefined): PooledConnection {
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const name = nameOf(query.sql);
      const values = [...query.parameters];
      const result = await client.query(
        name === undefined ? { text: query.sql, values } : { name, text: query.sql, values },
      );
      return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
    },
    streamQuery() {
      throw new Error('lists are read by keyset, never streamed through a cursor');
    },
    release: () => client.release(),
  };
}

/** Kysely's PostgreSQL dialect over a pool of ours, with every statement prepared. */
export function preparedPostgres(pool: pg.Pool): Dialect {
  const nameOf = statementNames(500);
  const held = new WeakMap<DatabaseConnection, PooledConnection>();
  const driver: Driver = {
    async init() {},
    async acquireConnection() {
      const connection = connectionOf(await pool.connect(), nameOf);
      held.set(connection, connection);
      return connection;
    },
    async beginTransaction(connection, settings) {
      const level =
        settings.isolationLevel === undefined ? '' : ` isolation level ${settings.isolationLevel}`;
      await connection.executeQuery(CompiledQuery.raw(`begin${level}`));
    },
    async commitTransaction(connection) {
      await connection.executeQuery(CompiledQuery.raw('commit'));
    },
    async rollbackTransaction(connection) {
      await connection.executeQuery(CompiledQuery.raw('rollback'));
    },
    async releaseConnection(connection) {
      held.get(connection)?.release();
    },
    async destroy() {
      await pool.end();
    },
  };
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
