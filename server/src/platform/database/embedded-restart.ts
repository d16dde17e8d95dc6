import { setTimeout as sleep } from 'node:timers/promises';

export interface ServerExit {
  code: number | null;
  signal: string | null;
}

/** How often a server that ended is tried to be started again, in some two minutes: a full disk may have room again. */
const RESTARTS = 10;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A server that does not last this long, so many times in a row, is not started again. */
const LASTS_MS = 1000;
const MOST_SHORT_LIVES = 5;

export interface RestartOptions<S> {
  /** Starts a server in place of one that ended; throws when that fails. */
  start(): Promise<S>;
  end(server: S): Promise<void>;
  log(message: string): void;
  /** How many attempts to start it again may fail. */
  restarts?: number | undefined;
}

export interface KeptServer {
  /** When the server has been stopped, or has ended and cannot be kept running. */
  exited: Promise<ServerExit>;
  stop(): Promise<void>;
}

/** Keeps a server running: when it ends by itself it is started again, unless that fails again and again. */
export function keepRunning<S extends { exited: Promise<ServerExit> }>(
  first: S,
  { start, end, log, restarts = RESTARTS }: RestartOptions<S>,
): KeptServer {
  let server = first;
  let stopping = false;

  /** Null when it was stopped meanwhile, or cannot be started. */
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
      // It was started while somebody asked for it to stop.
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
