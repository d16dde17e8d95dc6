import { retryAfterOf } from '@vitrine/contract/client';

/** What stands between the page and the service: nothing, its rate limit, or a lost connection. */
export type ConnectionState = 'ok' | 'limited' | 'lost';

export interface Connection {
  readonly state: ConnectionState;
  /** Seconds until the page tries again; counts down while it is limited. */
  readonly secondsLeft: number;
  /** `fetch` that notices refusals for too many requests and lost connections. */
  readonly fetch: typeof fetch;
}

const PROBE_EVERY_MS = 3000;
/** For a 429 that does not say when to try again. */
const USUAL_WAIT_S = 10;

function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Whether the service answers and is ready. */
async function isReady(): Promise<boolean> {
  return fetch('/readyz', { cache: 'no-store' }).then(
    (answer) => answer.ok,
    () => false,
  );
}

/** Watches every answer the page gets. `onRecovered` runs when the page should load again what it could not. */
export function watchConnection(onRecovered: () => void): Connection {
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

  // One failed request may have reasons of its own, so the service is asked whether it is there.
  async function suspect() {
    if (state !== 'ok' || (await isReady()) || state !== 'ok') return;
    state = 'lost';
    timer = setInterval(async () => {
      if ((await isReady()) && state === 'lost') recover();
    }, PROBE_EVERY_MS);
  }

  // While the browser is offline, queries wait without sending anything that could fail.
  window.addEventListener('offline', () => void suspect());

  return {
    get state() {
      return state;
    },
    get secondsLeft() {
      return secondsLeft;
    },
    async fetch(input, init) {
      try {
        const answer = await fetch(input, init);
        if (answer.status === 429) wait(retryAfterOf(answer.headers) ?? USUAL_WAIT_S);
        else if (answer.status === 502 || answer.status === 503 || answer.status === 504) void suspect();
        return answer;
      } catch (error) {
        if (!isAborted(error)) void suspect();
        throw error;
      }
    },
  };
}

/** What the page says while it cannot load; empty while it can. */
export function connectionWords(state: ConnectionState, secondsLeft: number): string {
  if (state === 'limited') return `Too many requests. Trying again in ${secondsLeft} s.`;
  return state === 'lost' ? 'The connection to the library is lost. Trying again…' : '';
}
