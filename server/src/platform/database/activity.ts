import type pg from 'pg';

/** Called after each statement with its text and its duration in seconds. */
type ObserveStatement = (text: string, seconds: number) => void;

/** The activity of a connection pool, for metrics. */
export interface PoolActivity {
  /** Observes every statement; null disables measuring. */
  observe: ObserveStatement | null;
  /** Open connections, how many of them are idle, their maximum, and the callers that wait for one. */
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
