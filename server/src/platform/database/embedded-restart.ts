import { setTimeout as sleep } from 'node:timers/promises';

export interface ServerExit {
  code: number | null;
  signal: string | null;
}

/** Number of restart attempts, over about two minutes: a full disk may be freed in that time. */
const RESTARTS = 10;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A server that fails this many times in a row within this time is not restarted. */
const LASTS_MS = 1000;
const MOST_SHORT_LIVES = 5;

export interface RestartOptions<S> {
  /** Starts a server in place of one that ended; throws when that fails. */
  start(): Promise<S>;
  end(server: S): Promise<void>;
  log(message: string): void;
  /** Number of restart attempts that may fail. */
  restarts?: number | undefined;
}

export interface KeptServer {
  /** Resolves when the server was stopped, or has ended and cannot be kept running. */
  exited: Promise<ServerExit>;
  stop(): Promise<void>;
}

/** Keeps a server running: restarts it when it ends by itself, unless that fails repeatedly. */
export function keepRunning<S extends { exited: Promise<ServerExit> }>(
  first: S,
  { start, end, log, restarts = RESTARTS }: RestartOptions<S>,
): KeptServer {
  let server = first;
  let stopping = false;

  /** Null when it was stopped in the meantime, or cannot be started. */
  async function startAgain(): Promise<S | null> {
    let pause = FIRST_PAUSE_MS;
    for (let tries = 1; !stopping; tries += 1) {
      try {
        return await start();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (tries >= restarts) {
          log(`the embedded PostgreSQL cannot be started again: ${reason}`);
          return null;
        }
      }
      await sleep(pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
    return null;
  }

  async function watch(): Promise<ServerExit> {
    let shortLives = 0;
    for (;;) {
      const since = performance.now();
      const exit = await server.exited;
      if (stopping) return exit;
      shortLives = performance.now() - since < LASTS_MS ? shortLives + 1 : 0;
      const how = `the embedded PostgreSQL ended unexpectedly (${exit.signal ?? exit.code})`;
      if (shortLives >= MOST_SHORT_LIVES) {
        log(`${how}, too often to start it again`);
        return exit;
      }
      log(`${how}; starting it again`);
      const next = await startAgain();
      if (next === null) return exit;
      server = next;
      // A stop was requested during the start.
      if (stopping) await end(server);
    }
  }

  const exited = watch();
  return {
    exited,
    async stop() {
      stopping = true;
      await end(server);
      await exited;
    },
  };
}
