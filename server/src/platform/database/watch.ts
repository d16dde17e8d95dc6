import pg from 'pg';
import { sentenceOfError } from '../faults/worded-errors.ts';
import { sentence } from '../language/sentence.ts';
import { named } from './name.ts';
import { DatabaseUnavailable } from './unavailable.ts';

/** A pool whose callers never wait for a database that has stopped responding. */
export interface WatchedPool {
  pool: pg.Pool;
  /** Returns a connection. Throws DatabaseUnavailable, immediately while the database is known not to respond. */
  connect(): Promise<pg.PoolClient>;
  close(): Promise<void>;
}

/** Registers a function that is called when the database stops answering. */
export type OnSilence = (reconnect: () => void) => void;

const ASK_EVERY_MS = 1000;
const ASK_AGAIN_AFTER_MS = 250;
/** A request waits at most twice this plus one interval: 4 s. */
const ANSWER_WITHIN_MS = 1500;
/** Limits the requests that queue for a connection; each one holds memory. */
const MOST_WAITING = 5000;

/** The deadline is counted in steps of this length. */
const STEP_MS = 100;

/**
 * Settles as `work` does, or rejects after `ms`. A pause of this process counts as one step, however long it is, because no
 * response is read during it: blocking the event loop for seconds must not look like a lost database.
 */
async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  let stepsLeft = ms / STEP_MS;
  const timer = setInterval(() => {
    stepsLeft -= 1;
    // Node reads sockets after timers: after a pause of this process the response may be there, unread.
    if (stepsLeft <= 0) setImmediate(() => setImmediate(() => reject(new Error('no answer in time'))));
  }, STEP_MS);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearInterval(timer);
  }
}

function cut(client: pg.Client): void {
  client.connection.stream.destroy();
}

/**
 * Checks every second, on a connection of its own, whether the database responds. When neither that connection nor a
 * new one responds in time, all statements in progress and all waiting callers fail with DatabaseUnavailable, and so
 * does every request until the database responds again. Statements may take any time while it does. `changed` is called
 * when it stops (false) and starts (true) responding.
 */
export function watchPool(
  pool: pg.Pool,
  settings: pg.ClientConfig,
  changed: (answers: boolean) => void,
): WatchedPool {
  const clients = new Set<pg.PoolClient>();
  const waiting = new Set<(error: DatabaseUnavailable) => void>();
  let own: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let down = false;
  let closed = false;

  const notAnswering = () => new DatabaseUnavailable(sentence('it does not answer'));

  const giveUp = () => {
    down = true;
    for (const client of clients) cut(client);
    for (const reject of waiting) reject(notAnswering());
    waiting.clear();
  };

  async function answers(): Promise<boolean> {
    const client = own ?? new pg.Client(named(settings, 'watch'));
    const isNew = own === null;
    own = client;
    if (isNew) client.on('error', () => {});
    try {
      const asked = isNew ? client.connect().then(() => client.query('select 1')) : client.query('select 1');
      await within(asked, ANSWER_WITHIN_MS);
      return true;
    } catch {
      cut(client);
      own = null;
      return false;
    }
  }

  async function look(): Promise<void> {
    const hadConnection = own !== null;
    // A single connection may have been lost; only a new one proves the state of the database.
    const isAnswering = (await answers()) || (hadConnection && (await answers()));
    if (closed) return;
    if (isAnswering === down) {
      if (isAnswering) down = false;
      else giveUp();
      changed(isAnswering);
    }
    schedule();
  }

  function schedule(): void {
    timer = setTimeout(() => void look(), down ? ASK_AGAIN_AFTER_MS : ASK_EVERY_MS);
    timer.unref();
  }

  pool.on('connect', (client) => {
    clients.add(client);
    client.on('end', () => clients.delete(client));
    if (timer === null && !closed) schedule();
  });

  return {
    pool,
    connect() {
      if (down || waiting.size >= MOST_WAITING) return Promise.reject(notAnswering());
      return new Promise((resolve, reject) => {
        waiting.add(reject);
        pool.connect().then(
          (client) => {
            // Callers that timed out in the meantime no longer need it.
            if (waiting.delete(reject)) resolve(client);
            else client.release();
          },
          (error: unknown) => {
            waiting.delete(reject);
            reject(new DatabaseUnavailable(sentenceOfError(error), error));
          },
        );
      });
    },
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      const client = own;
      if (client === null) return;
      await within(client.end(), ANSWER_WITHIN_MS).catch(() => {});
      cut(client);
    },
  };
}
