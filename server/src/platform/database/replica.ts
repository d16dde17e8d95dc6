import { sql } from 'kysely';
import pg from 'pg';
import { saySentence, sentence, WordedError } from '../language/sentence.ts';
import { named } from './name.ts';
import { type Database, openPool } from './pool.ts';
import { connectionFault } from './unusable.ts';

/** A streaming replica that may serve reads. */
export interface Replica {
  db: Database;
  /**
   * Returns whether the replica may serve a read now: it has replayed everything that the primary had one second ago,
   * and this position of the primary's log.
   */
  hasReplayed(position: string | null): boolean;
  /** Stops using the replica after a failure until it has been polled successfully. */
  suspect(): void;
  state(): ReplicaState;
  close(): Promise<void>;
}

export interface ReplicaState {
  usable: boolean;
  /** Age of the primary's state that the replica was last known to have, in seconds; before the first poll, its own. */
  lagSeconds: number;
  /** Why the replica is not used; null while it is. */
  reason: string | null;
}

/** The oldest state that a read may show (REPLICA-3). */
const STALE_AT_MOST_MS = 1000;
const POLL_EVERY_MS = 200;
/** Polls ahead of time when a read needs a newer position, but not more often than this. */
const POLL_AGAIN_AFTER_MS = 20;
const RECONNECT_AFTER_MS = 500;
const ANSWER_WITHIN_MS = 1000;
const CONNECT_WITHIN_MS = 3000;
/** Positions older than this are forgotten: 300 of them at most in the usual interval. */
const REMEMBER_MS = 60_000;

/** No request waits longer for the replica; then it is repeated on the primary. */
export const READ_WITHIN_MS = 2000;

const WAL_PAGE = 8192n;
const WAL_PAGE_HEADER = 24n;

/**
 * Parses a position in the log. At the start of an empty page the server names the position after the page's header,
 * which replay reaches only with the next record; the position before it is the same state.
 */
export function walPosition(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  const position = (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
  return position % WAL_PAGE === WAL_PAGE_HEADER ? position - WAL_PAGE_HEADER : position;
}

interface Identity {
  recovering: boolean;
  system: string;
  database: string;
  pid: number;
}

interface Connection {
  client: pg.Client;
  identity: Identity;
}

/** Connects and returns which server and database answer. */
async function connect(settings: pg.ClientConfig, lost: () => void): Promise<Connection> {
  const client = new pg.Client({
    ...named(settings, 'replica'),
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
  });
  client.on('error', lost);
  client.on('end', lost);
  try {
    await client.connect();
    const { rows } = await client.query<Identity>(`
      select pg_is_in_recovery() as recovering, (select system_identifier::text from pg_control_system()) as system,
        current_database() as database, pg_backend_pid() as pid`);
    const identity = rows[0];
    if (identity === undefined) throw new WordedError(sentence('no answer'));
    // A pooler might lead each statement to another replica.
    if ('processID' in client && client.processID !== identity.pid)
      throw new WordedError(sentence('a connection pooler answers there'));
    return { client, identity };
  } catch (error) {
    cut(client);
    throw error;
  }
}

function cut(client: pg.Client): void {
  client.removeAllListeners('end');
  client.connection.stream.destroy();
}

/** Throws unless the second server is a replica of the first, with the same database. */
function checkPair(primary: Identity, replica: Identity): void {
  if (primary.recovering) throw new WordedError(sentence('DATABASE_URL leads to a replica'));
  if (primary.system !== replica.system || primary.database !== replica.database)
    throw new WordedError(sentence('it is no streaming replica of the database at DATABASE_URL'));
  if (!replica.recovering) throw new WordedError(sentence('it is not a replica any more: it accepts writes'));
}

async function positionOf({ client }: Connection, query: string): Promise<bigint> {
  const { rows } = await client.query<{ position: string | null }>(query);
  const position = rows[0]?.position ?? null;
  if (position === null) throw new WordedError(sentence('it is not a replica any more: it accepts writes'));
  return walPosition(position);
}

const readInserted = 'select pg_current_wal_insert_lsn()::text as position';
const readReplayed =
  'select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end::text as position';

export interface ReplicaOptions {
  /** How to connect to PostgreSQL itself, not to a pooler. */
  primary: pg.ClientConfig;
  replica: pg.ClientConfig;
  connections: number;
  log(message: string): void;
}

/**
 * Opens a replica and follows it: polls the position of the primary and then that of the replica, on two connections of
 * its own. Never throws: a replica that does not answer is not used. Logs when it stops and starts being used.
 */
export function openReplica({ primary, replica, connections, log }: ReplicaOptions): Replica {
  const pool = openPool(replica, connections, () => {}, {
    statement_timeout: `${READ_WITHIN_MS}ms`,
    default_transaction_read_only: 'on',
  });
  let ends: { primary: Connection; replica: Connection } | null = null;
  /** Positions of the primary that the replica has not reached, oldest first. */
  let pending: { askedAt: number; position: bigint }[] = [];
  let replayed = 0n;
  /** When the primary was asked for the newest position that the replica has reached. */
  let freshAt = Number.NEGATIVE_INFINITY;
  /** The last known `freshAt`, for the lag: a number that JSON can carry to another process. */
  let knownAt = performance.now();
  /** Since when positions are compared. */
  let comparedSince = Number.POSITIVE_INFINITY;
  let reported: boolean | null = null;
  let reason: string | null = 'it has not answered yet';
  let timer: NodeJS.Timeout | null = null;
  let nextAt = 0;
  let closed = false;

  const isFresh = () => performance.now() - freshAt <= STALE_AT_MOST_MS;

  /** Forgets what is known. A restarted replica may be behind; a restarted primary has lost its unlogged tables. */
  const forget = () => {
    pending = [];
    replayed = 0n;
    freshAt = Number.NEGATIVE_INFINITY;
    comparedSince = performance.now();
  };

  const disconnect = () => {
    forget();
    if (ends !== null) for (const { client } of Object.values(ends)) cut(client);
    ends = null;
  };

  async function connectBoth() {
    const first = await connect(primary, disconnect);
    try {
      const second = await connect(replica, disconnect);
      const both = { primary: first, replica: second };
      try {
        checkPair(first.identity, second.identity);
      } catch (error) {
        cut(second.client);
        throw error;
      }
      return both;
    } catch (error) {
      cut(first.client);
      throw error;
    }
  }

  async function readPositions(): Promise<void> {
    if (ends === null) {
      ends = await connectBoth();
      comparedSince = performance.now();
    }
    const both = ends;
    const askedAt = performance.now();
    const position = await positionOf(both.primary, readInserted);
    const reached = await positionOf(both.replica, readReplayed);
    // A connection was lost meanwhile.
    if (ends !== both) throw new WordedError(sentence('connection lost'));
    pending.push({ askedAt, position });
    replayed = reached;
    for (const question of pending) if (question.position <= reached) freshAt = question.askedAt;
    if (isFresh()) knownAt = freshAt;
    pending = pending.filter(
      (question) => question.position > reached && performance.now() - question.askedAt < REMEMBER_MS,
    );
  }

  function report(): void {
    const works = reason === null;
    // It may need a moment to catch up.
    const isEarly = ends !== null && performance.now() - comparedSince <= STALE_AT_MOST_MS;
    if (works === reported || (!works && isEarly)) return;
    reported = works;
    log(works ? 'the replica serves reads' : `the replica serves no reads: ${reason}`);
  }

  async function poll(): Promise<void> {
    timer = null;
    try {
      await readPositions();
      reason = isFresh() ? null : 'it lags by more than a second';
    } catch (error) {
      disconnect();
      reason = saySentence('en', connectionFault(error));
    }
    if (closed) {
      disconnect();
      return;
    }
    report();
    schedule(ends === null ? RECONNECT_AFTER_MS : POLL_EVERY_MS);
  }

  function schedule(afterMs: number): void {
    if (timer !== null) clearTimeout(timer);
    nextAt = performance.now() + afterMs;
    timer = setTimeout(() => void poll(), afterMs);
    timer.unref();
  }

  function pollSoon(): void {
    // No timer: a poll is under way, or the replica is closed.
    if (timer === null || ends === null) return;
    if (nextAt - performance.now() > POLL_AGAIN_AFTER_MS) schedule(POLL_AGAIN_AFTER_MS);
  }

  schedule(0);
  return {
    db: pool.db,
    hasReplayed(position) {
      if (!isFresh()) return false;
      if (position === null || walPosition(position) <= replayed) return true;
      pollSoon();
      return false;
    },
    suspect() {
      forget();
      pollSoon();
    },
    state: () => ({
      usable: isFresh(),
      lagSeconds: (performance.now() - knownAt) / 1000,
      reason: isFresh() ? null : (reason ?? 'it has just failed'),
    }),
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      disconnect();
      await pool.close();
    },
  };
}

/** The key of writes that every caller must see. User refs begin at 1. */
const EVERYONE = 0;

/**
 * Records that a write of these accounts, or of everyone if null, has been committed (REPLICA-2). Every process finds
 * the position in the statement that reads the credential of the next request.
 */
export async function recordLastWrite(db: Database, userRefs: readonly number[] | null): Promise<void> {
  const keys = userRefs ?? [EVERYONE];
  // In one order, so that concurrent writes cannot deadlock.
  await sql`insert into last_writes as w (user_ref, position)
    select key, pg_current_wal_insert_lsn() from unnest(${[...keys]}::bigint[]) key order by key
    on conflict (user_ref) do update set position = greatest(w.position, excluded.position)`.execute(db);
}

/** Examines a replica from outside, for the doctor; throws an Error of one line when it cannot serve reads. */
export async function examineReplica(
  primary: pg.ClientConfig,
  replica: pg.ClientConfig,
): Promise<{ behindBytes: number }> {
  const source = await connect(primary, () => {});
  try {
    const standby = await connect(replica, () => {});
    try {
      checkPair(source.identity, standby.identity);
      const wanted = await positionOf(source, readInserted);
      const until = performance.now() + STALE_AT_MOST_MS;
      let reached = await positionOf(standby, readReplayed);
      while (reached < wanted && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, POLL_AGAIN_AFTER_MS));
        reached = await positionOf(standby, readReplayed);
      }
      return { behindBytes: reached < wanted ? Number(wanted - reached) : 0 };
    } finally {
      cut(standby.client);
    }
  } finally {
    cut(source.client);
  }
}
