import type pg from 'pg';

/** Called after each statement with its text and its duration in seconds. */
type ObserveStatement = (text: string, seconds: number) => void;

/** What a pool does, for metrics. */
export interface PoolActivity {
  /** Observes all statements; null: none, and nothing is measured. */
  observe: ObserveStatement | null;
  /** Open connections, idle ones among them, the most there may be, and callers that wait for one. */
  connections(): { open: number; idle: number; most: number; waiting: number };
}

export function activityOf(pool: pg.Pool): PoolActivity {
  return {
    observe: null,
    connections: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      most: pool.options.max,
      waiting: pool.waitingCount,
    }),
  };
}
