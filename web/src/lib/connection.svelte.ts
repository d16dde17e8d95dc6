import { retryAfterOf } from '@vitrine/contract/client';
import type { BroughtAnswers } from './first-answers.ts';

/** The state of the connection to the service: normal, rate limited, or lost. */
export type ConnectionState = 'ok' | 'limited' | 'lost';

export interface Connection {
  readonly state: ConnectionState;
  /** Seconds until the next attempt; counts down while requests are limited. */
  readonly secondsLeft: number;
  /** `fetch` that detects 429 responses and lost connections. */
  readonly fetch: typeof fetch;
}

const PROBE_EVERY_MS = 3000;
/** Used for a 429 without `Retry-After`. */
const USUAL_WAIT_S = 10;

function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Returns whether the service responds and is ready. */
async function isReady(): Promise<boolean> {
  return fetch('/readyz', { cache: 'no-store' }).then(
    (answer) => answer.ok,
    () => false,
  );
}

/**
 * Watches all responses. Calls `onRecovered` when the page should reload what failed to load. The first requests get
 * the answers that came with the page, until something may have changed.
 */
export function watchConnection(
  onRecovered: () => void,
  brought: Pick<BroughtAnswers, 'take' | 'drop'>,
): Connection {
  let state = $state<ConnectionState>('ok');
  let secondsLeft = $state(0);
  let timer: ReturnType<typeof setInterval> | undefined;

  function recover() {
    clearInterval(timer);
    timer = undefined;
    state = 'ok';
    secondsLeft = 0;
    onRecovered();
  }

  function wait(seconds: number) {
    if (state === 'limited' && secondsLeft >= seconds) return;
    clearInterval(timer);
    state = 'limited';
    secondsLeft = Math.max(1, Math.ceil(seconds));
    timer = setInterval(() => {
      secondsLeft -= 1;
      if (secondsLeft <= 0) recover();
    }, 1000);
  }

  // A single failed request may have another cause, so this checks whether the service is reachable.
  async function suspect() {
    if (state !== 'ok' || (await isReady()) || state !== 'ok') return;
    state = 'lost';
    timer = setInterval(async () => {
      if ((await isReady()) && state === 'lost') recover();
    }, PROBE_EVERY_MS);
  }

  // While the browser is offline, queries wait instead of failing.
  window.addEventListener('offline', () => void suspect());

  return {
    get state() {
      return state;
    },
    get secondsLeft() {
      return secondsLeft;
    },
    async fetch(input, init) {
      const isRead = init?.method === undefined || init.method === 'GET';
      if (!isRead) brought.drop();
      const first = isRead && typeof input === 'string' ? brought.take(input) : undefined;
      if (first !== undefined) return first;
      try {
        const answer = await fetch(input, init);
        if (answer.status === 429) wait(retryAfterOf(answer.headers) ?? USUAL_WAIT_S);
        else if (answer.status === 502 || answer.status === 503 || answer.status === 504) void suspect();
        // The service worker answered from its cache, because the service cannot be reached.
        else if (answer.headers.has('vitrine-kept')) void suspect();
        return answer;
      } catch (error) {
        if (!isAborted(error)) void suspect();
        throw error;
      }
    },
  };
}

/** Returns the message to show while the page cannot load; empty otherwise. */
export function connectionWords(state: ConnectionState, secondsLeft: number): string {
  if (state === 'limited') return `Too many requests. Trying again in ${secondsLeft} s.`;
  return state === 'lost' ? 'The connection to the library is lost. Trying again…' : '';
}
