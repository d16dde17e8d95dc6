import type { FastifyBaseLogger } from 'fastify';
import { sql } from 'kysely';
import type { Database } from '../database/pool.ts';
import { type Refusal, refuse } from './refuse.ts';

/** How many uses are allowed within a fixed window, which begins with its first use. */
export interface Budget {
  /** Separates the budget from others. */
  name: string;
  limit: number;
  windowSeconds: number;
  /**
   * Whether every use waits for the count of all processes. Otherwise a process admits up to a twentieth of the limit
   * between two exchanges with the database, at least once a second. During an exchange, each process exceeds a limit
   * by less than a tenth.
   */
  exact: boolean;
}

export interface RateBudgets {
  /** Counts one use of a budget for this key. Throws 429 with `Retry-After` when the budget is spent. */
  spend(budget: Budget, key: string): Promise<void>;
  /** Waits for the exchange in progress and starts no other. */
  close(): Promise<void>;
}

/** Counts nothing (tests and benchmarks). */
export const unlimited: RateBudgets = { spend: async () => {}, close: async () => {} };

const EXCHANGE_EVERY_MS = 1000;
const FORGET_EVERY_MS = 60_000;

/** The state of one key in this process. */
interface Window {
  /** Uses by all processes at the last exchange, and by this one since then. */
  used: number;
  /** By this process's monotonic clock, in milliseconds. */
  endsAt: number;
}

interface Total {
  key: string;
  used: number;
  seconds_left: number;
}

type Totals = ReadonlyMap<string, Total>;

/** Uses to add to the shared counts in one statement. */
interface Batch {
  uses: Map<string, { amount: number; windowSeconds: number }>;
  /** Returns the shared counts afterwards, or null when the database cannot be reached. */
  sent: Promise<Totals | null> | null;
}

function tooMany(seconds: number): Refusal {
  return refuse('too-many-requests', {}, { 'retry-after': String(Math.max(1, Math.ceil(seconds))) });
}

/** Adds the uses to the shared counts. The database's clock decides when a window ends. */
async function addUses(db: Database, uses: Batch['uses']): Promise<Totals> {
  const amounts = [...uses.values()];
  // Sorted by key, so that concurrent exchanges of processes cannot deadlock.
  const { rows } = await sql<Total>`
    insert into rate_budgets as b (key, used, ends_at)
    select key, amount, now() + seconds * interval '1 second'
    from unnest(${[...uses.keys()]}::text[], ${amounts.map((use) => use.amount)}::integer[],
      ${amounts.map((use) => use.windowSeconds)}::integer[]) as given (key, amount, seconds)
    order by key
    on conflict (key) do update set
      used = case when b.ends_at > now() then b.used + excluded.used else excluded.used end,
      ends_at = case when b.ends_at > now() then b.ends_at else excluded.ends_at end
    returning key, used, extract(epoch from ends_at - now())::double precision as seconds_left`.execute(db);
  return new Map(rows.map((row) => [row.key, row]));
}

/**
 * Budgets shared by all processes on this database. Each process counts in memory and exchanges counts in batches, so
 * that a request rarely waits for a write. A key whose budget is spent costs no statement. While the database cannot be
 * reached, each process enforces the limits by its own count.
 */
export function openRateBudgets(db: Database, log: Pick<FastifyBaseLogger, 'warn'>): RateBudgets {
  const windows = new Map<string, Window>();
  let gathering: Batch = { uses: new Map(), sent: null };
  let last: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  let forgetAt = performance.now() + FORGET_EVERY_MS;
  let isReachable = true;
  let isClosed = false;

  const forgetEnded = () => {
    const now = performance.now();
    if (now < forgetAt) return;
    forgetAt = now + FORGET_EVERY_MS;
    for (const [key, window] of windows) if (window.endsAt <= now) windows.delete(key);
  };

  const learn = (totals: Totals) => {
    const now = performance.now();
    for (const { key, used, seconds_left } of totals.values()) {
      const window = windows.get(key);
      if (window === undefined) continue;
      window.used = used + (gathering.uses.get(key)?.amount ?? 0);
      window.endsAt = now + seconds_left * 1000;
    }
  };

  const exchange = async (): Promise<Totals | null> => {
    const { uses } = gathering;
    gathering = { uses: new Map(), sent: null };
    if (timer !== null) clearTimeout(timer);
    timer = null;
    forgetEnded();
    try {
      const totals = await addUses(db, uses);
      learn(totals);
      isReachable = true;
      return totals;
    } catch (error) {
      if (isReachable) log.warn({ err: error }, 'rate budgets are counted by this process alone');
      isReachable = false;
      return null;
    }
  };

  /** Sends the pending batch after the one in progress; uses may still join it until then. */
  const send = (): Promise<Totals | null> => {
    const sent = gathering.sent ?? last.then(exchange);
    gathering.sent = sent;
    last = sent;
    return sent;
  };

  return {
    async spend(budget, key) {
      const name = `${budget.name} ${key}`;
      const now = performance.now();
      let window = windows.get(name);
      if (window === undefined || window.endsAt <= now) {
        window = { used: 0, endsAt: now + budget.windowSeconds * 1000 };
        windows.set(name, window);
      }
      if (window.used >= budget.limit) throw tooMany((window.endsAt - now) / 1000);
      window.used += 1;
      const use = gathering.uses.get(name) ?? { amount: 0, windowSeconds: budget.windowSeconds };
      gathering.uses.set(name, use);
      use.amount += 1;
      const ordinal = use.amount;
      const unshared = budget.exact ? 1 : Math.max(1, Math.floor(budget.limit / 20));
      if (ordinal < unshared || isClosed) {
        if (!isClosed) timer ??= setTimeout(send, EXCHANGE_EVERY_MS).unref();
        return;
      }
      const total = (await send())?.get(name);
      if (total === undefined) return;
      // The uses of one batch are admitted in the order in which they arrived.
      if (total.used - use.amount + ordinal > budget.limit) throw tooMany(total.seconds_left);
    },
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await last;
    },
  };
}
