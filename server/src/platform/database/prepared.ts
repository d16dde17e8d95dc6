import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type pg from 'pg';
import { activeSpan, failureOf } from '../tracing/active-span.ts';
import type { PoolActivity } from './activity.ts';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';
import type { WatchedPool } from './watch.ts';

/**
 * Names each statement text, so that PostgreSQL parses and plans it once per connection. Bounded: after `most`
 * different texts, further ones stay unnamed.
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

/** Sends statements and transactions over one of the pool's connections. */
interface Sender extends Pick<DatabaseConnection, 'executeQuery'> {
  begin(isolationLevel: string | undefined): Promise<void>;
  /** Ends the transaction with `commit` or `rollback`. */
  end(how: 'commit' | 'rollback'): Promise<void>;
}

interface PooledConnection extends DatabaseConnection, Sender {
  release(): void;
}

const beginText = (isolationLevel: string | undefined) =>
  isolationLevel === undefined ? 'begin' : `begin isolation level ${isolationLevel}`;

function resultOf<R>(result: pg.QueryResult): QueryResult<R> {
  return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
}

function senderOver(client: pg.PoolClient, nameOf: (text: string) => string | undefined): Sender {
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const name = nameOf(query.sql);
      const values = [...query.parameters];
      return resultOf(
        await client.query(
          name === undefined ? { text: query.sql, values } : { name, text: query.sql, values },
        ),
      );
    },
    async begin(isolationLevel) {
      await client.query(beginText(isolationLevel));
    },
    async end(how) {
      await client.query(how);
    },
  };
}

/**
 * A connection through a pooler that may run each transaction in another server session. Nothing outlives a transaction
 * there, so statements are unnamed and every transaction begins with its own settings. A statement outside a
 * transaction is sent together with one, which takes no extra round trip.
 */
function sharedSenderOver(client: pg.PoolClient, settings: string): Sender {
  let inTransaction = false;
  const send = ({ sql, parameters }: CompiledQuery) => client.query(sql, [...parameters]);
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      if (inTransaction) return resultOf(await send(query));
      const [begun, answered, committed] = await Promise.allSettled([
        client.query(`begin; ${settings}`),
        send(query),
        client.query('commit'),
      ]);
      if (begun.status === 'rejected') throw begun.reason;
      if (answered.status === 'rejected') throw answered.reason;
      if (committed.status === 'rejected') throw committed.reason;
      return resultOf(answered.value);
    },
    async begin(isolationLevel) {
      await client.query(`${beginText(isolationLevel)}; ${settings}`);
      inTransaction = true;
    },
    async end(how) {
      inTransaction = false;
      await client.query(how);
    },
  };
}

/** The maximum length of a statement in a trace, in characters. */
const MOST_TEXT = 4000;

/**
 * Runs a statement. If the work in progress is traced, records a span with the statement's text but not its parameters.
 * If the pool has an observer, reports the duration.
 */
function followed<T>({ observe }: PoolActivity, text: string, run: () => Promise<T>): Promise<T> {
  const parent = activeSpan.getStore();
  if (parent === undefined && observe === null) return run();
  const span = parent?.startCall(/\w+/.exec(text)?.[0].toLowerCase() ?? 'statement', {
    'db.system.name': 'postgresql',
    'db.query.text': text.slice(0, MOST_TEXT),
  });
  const began = performance.now();
  const end = (failure?: string) => {
    observe?.(text, (performance.now() - began) / 1000);
    span?.end(failure);
  };
  return run().then(
    (result) => {
      end();
      return result;
    },
    (error: unknown) => {
      end(failureOf(error));
      throw error;
    },
  );
}

/** Wraps a sender as Kysely's connection; a lost connection is reported as DatabaseUnavailable. */
function connectionOver(client: pg.PoolClient, sender: Sender, activity: PoolActivity): PooledConnection {
  let lost = false;
  const rethrow = (error: unknown): never => {
    const failure = asUnavailable(error);
    if (failure instanceof DatabaseUnavailable) lost = true;
    throw failure;
  };
  return {
    executeQuery: (query) =>
      followed(activity, query.sql, () => sender.executeQuery<never>(query)).catch(rethrow),
    begin: (isolationLevel) => followed(activity, 'begin', () => sender.begin(isolationLevel)).catch(rethrow),
    end: (how) => followed(activity, how, () => sender.end(how)).catch(rethrow),
    streamQuery() {
      throw new Error('lists are read by keyset, never streamed through a cursor');
    },
    // Keeps the pool from reusing a lost connection before it notices the loss itself.
    release: () => client.release(lost),
  };
}

/** Creates Kysely's PostgreSQL dialect over the pool's connections. */
function dialectOver(
  { pool, connect }: WatchedPool,
  activity: PoolActivity,
  senderOf: (client: pg.PoolClient) => Sender,
): Dialect {
  const held = new WeakMap<DatabaseConnection, PooledConnection>();
  const driver: Driver = {
    async init() {},
    async acquireConnection() {
      const client = await connect();
      const connection = connectionOver(client, senderOf(client), activity);
      held.set(connection, connection);
      return connection;
    },
    async beginTransaction(connection, settings) {
      await held.get(connection)?.begin(settings.isolationLevel);
    },
    async commitTransaction(connection) {
      await held.get(connection)?.end('commit');
    },
    async rollbackTransaction(connection) {
      await held.get(connection)?.end('rollback');
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

/**
 * Creates Kysely's dialect over a pool whose connections keep their server session; prepares the first `most` different
 * statements.
 */
export function preparedPostgres(watched: WatchedPool, activity: PoolActivity, most: number): Dialect {
  const nameOf = statementNames(most);
  return dialectOver(watched, activity, (client) => senderOver(client, nameOf));
}

/**
 * Creates Kysely's dialect over a pool behind a transaction pooler, such as PgBouncer with `pool_mode = transaction`.
 * `settings` are the `set local` statements that begin every transaction. The pool's clients must be pipelined.
 */
export function sharedPostgres(watched: WatchedPool, activity: PoolActivity, settings: string): Dialect {
  return dialectOver(watched, activity, (client) => sharedSenderOver(client, settings));
}
