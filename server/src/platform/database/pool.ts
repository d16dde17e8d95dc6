import { Kysely, type SelectType, type Transaction } from 'kysely';
import pg from 'pg';
import { activityOf, type PoolActivity } from './activity.ts';
import { type Listener, openListener } from './listen.ts';
import { named } from './name.ts';
import { preparedPostgres, sharedPostgres } from './prepared.ts';
import type { Tables } from './tables.ts';
import { type OnSilence, watchPool } from './watch.ts';

/** The pool or a transaction: the first argument of every function that queries. */
export type Database = Kysely<Tables>;
/** A transaction: required by functions whose writes must be atomic. */
export type Tx = Transaction<Tables>;
/** Columns of a table, with the types that reading them returns. */
export type Columns<T extends keyof Tables, C extends keyof Tables[T]> = {
  [K in C]: SelectType<Tables[T][K]>;
};

const INT8 = 20;
const FLOAT8 = 701;
const DATE = 1082;
const NUMERIC = 1700;
const TIMESTAMPTZ = 1184;

/** Converts a time that PostgreSQL wrote in JSON, as `2026-11-21T04:41:01.5+00:00`, to the form of other times. */
export function timestampOfJson(text: string): string {
  return timestamp(text.replace(/:00$/, ''));
}

/**
 * Converts `2026-11-21 04:41:01.5+00` to RFC 3339 in UTC; the session's time zone is UTC. A fraction has three digits,
 * as in the times that JavaScript writes (HTTP-5).
 */
function timestamp(text: string): string {
  const time = text.replace(' ', 'T').replace(/\+00$/, '');
  return `${time.replace(/\.\d{1,2}$/, (fraction) => fraction.padEnd(4, '0'))}Z`;
}

/** Refs, counts and sizes fit a JavaScript number; times are sent as strings. */
function typeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 || oid === NUMERIC || oid === FLOAT8) return Number;
  if (oid === TIMESTAMPTZ) return timestamp;
  if (oid === DATE) return String;
  return pg.types.getTypeParser(oid, format);
}

export interface DatabasePool {
  db: Database;
  /**
   * The driver's pool, for the job queue, migrations and session-level locks, which use it directly: each of its
   * connections is a server session.
   */
  pool: pg.Pool;
  /** One connection besides the pool's, opened with the first subscription. */
  listener: Listener;
  /** The statements and connections of `db`. */
  activity: PoolActivity;
  /** For owners of other connections, which would wait for a response that never comes. */
  onSilence: OnSilence;
  close(): Promise<void>;
}

/** Shorter than the statement timeout, so that waiting for a lock is reported as such. */
const sessionSettings = { TimeZone: 'UTC', statement_timeout: '60s', lock_timeout: '50s' };

/**
 * PostgreSQL ends sessions whose network is lost after 25 s instead of hours; until then their transactions hold locks
 * (decision 335). The user timeout covers results that are being sent: no keepalives are sent meanwhile.
 */
const networkSettings = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '25s',
};

/** How long connecting, or waiting for a free connection, may take. */
const CONNECT_WITHIN_MS = 10_000;

function createPool(settings: pg.PoolConfig, connections: number): pg.Pool {
  const pool = new pg.Pool({
    ...named(settings),
    max: connections,
    types: { getTypeParser: typeParser },
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
  });
  // The pool replaces an idle connection that breaks; without a listener the error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Creates a pool whose connections are server sessions, so that settings are sent once, on connecting. */
function createSessionPool(
  settings: pg.PoolConfig,
  connections: number,
  own: Readonly<Record<string, string>>,
): pg.Pool {
  const options = Object.entries({ ...sessionSettings, ...networkSettings, ...own }).map(
    ([name, value]) => `-c ${name}=${value}`,
  );
  return createPool({ ...settings, options: options.join(' ') }, connections);
}

type Log = (message: string) => void;

function reportState(log: Log, answers: boolean): void {
  if (answers) log('the database answers again');
  else log('the database does not answer; requests are refused until it does');
}

/**
 * Opens a pool of at most `connections`; it connects with the first query. Logs when the database stops and starts
 * responding. `own` are session settings that override the usual ones. Each connection keeps the plans of at most
 * `statements` different texts.
 */
export function openPool(
  settings: pg.PoolConfig,
  connections: number,
  log: Log = () => {},
  own: Readonly<Record<string, string>> = {},
  statements = 500,
): DatabasePool {
  const pool = createSessionPool(settings, connections, own);
  const listener = openListener(settings);
  const reconnects: (() => void)[] = [() => listener.reconnect()];
  const watched = watchPool(pool, settings, (answers) => {
    reportState(log, answers);
    if (!answers) for (const reconnect of reconnects) reconnect();
  });
  const activity = activityOf(pool);
  return {
    db: new Kysely<Tables>({ dialect: preparedPostgres(watched, activity, statements) }),
    pool,
    listener,
    activity,
    onSilence: (reconnect) => reconnects.push(reconnect),
    async close() {
      await watched.close();
      await listener.close();
      await pool.end();
    },
  };
}

export interface PoolerPool extends DatabasePool {
  /** Creates the pool of connections through the pooler. */
  shared: pg.Pool;
}

/**
 * Opens pools on a database behind a transaction pooler: `db` connects through `pooler`; `pool` and `listener`, which
 * need sessions, connect to PostgreSQL at `direct`.
 */
export function openPoolerPool(
  pooler: pg.PoolConfig,
  direct: pg.PoolConfig,
  connections: { pooler: number; direct: number },
  log: Log = () => {},
): PoolerPool {
  const session = openPool(direct, connections.direct);
  // The driver's types lack this option.
  const pipelined = { ...pooler, pipeline: true };
  const shared = createPool(pipelined, connections.pooler);
  const watched = watchPool(shared, pooler, (answers) => reportState(log, answers));
  const settings = Object.entries(sessionSettings).map(([name, value]) => `set local ${name} = '${value}'`);
  const activity = activityOf(shared);
  return {
    ...session,
    shared,
    activity,
    db: new Kysely<Tables>({ dialect: sharedPostgres(watched, activity, settings.join('; ')) }),
    async close() {
      await session.close();
      await watched.close();
      await shared.end();
    },
  };
}
