import type { Service } from '#lib/service.ts';
import { listsKey, unreadKey } from './queries.ts';

/** Milliseconds until a stream that the service refused is requested again. */
const askAgainAfter = 30_000;

/** The same after the service announced that it stops: it is being restarted, or another process replaces it. */
const askRestartedAfter = 5000;

/** The live events of the service while the page is visible. */
export interface Live {
  /** Whether the stream is open. While it is not, pages poll. */
  readonly connected: boolean;
  close(): void;
}

/** Returns a number in the data of an event, by name; undefined if it is missing. */
function numberIn(text: string, name: 'unread_count' | 'reconnect_after_ms'): number | undefined {
  try {
    const data: unknown = JSON.parse(text);
    const value: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined;
    return typeof value === 'number' ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Listens to events and updates the cache. Only while the page is visible: browsers limit the connections to a
 * server, and background tabs would use all of them.
 */
export function listenLive({ queries }: Service, address = '/api/v1/events'): Live {
  let connected = $state(false);
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let restarting = false;

  function heard(event: MessageEvent<string>) {
    const count = numberIn(event.data, 'unread_count');
    if (count === undefined) return;
    // A response in flight is older than this event.
    void queries.cancelQueries({ queryKey: unreadKey });
    queries.setQueryData<number>(unreadKey, count);
    void queries.invalidateQueries({ queryKey: listsKey });
  }

  function open() {
    clearTimeout(again);
    if (source !== undefined || document.hidden) return;
    const opened = new EventSource(address);
    source = opened;
    opened.addEventListener('open', () => {
      connected = true;
      restarting = false;
    });
    opened.addEventListener('notification', heard);
    opened.addEventListener('closing', (event: MessageEvent<string>) => {
      restarting = true;
      close();
      again = setTimeout(open, numberIn(event.data, 'reconnect_after_ms') ?? askRestartedAfter);
    });
    opened.addEventListener('error', () => {
      connected = false;
      // The browser reconnects after a lost connection, but not after a refusal. In that case the count is requested,
      // which reveals whether the session has ended.
      if (opened.readyState !== EventSource.CLOSED) return;
      close();
      void queries.invalidateQueries({ queryKey: unreadKey });
      again = setTimeout(open, restarting ? askRestartedAfter : askAgainAfter);
    });
  }

  function close() {
    clearTimeout(again);
    source?.close();
    source = undefined;
    connected = false;
  }

  function turn() {
    if (document.hidden) close();
    else open();
  }

  document.addEventListener('visibilitychange', turn);
  open();
  return {
    get connected() {
      return connected;
    },
    close() {
      document.removeEventListener('visibilitychange', turn);
      close();
    },
  };
}
