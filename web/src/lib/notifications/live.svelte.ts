import type { Service } from '#lib/service.ts';
import { listsKey, unreadKey } from './queries.ts';

/** Milliseconds until a stream that the service refused is asked for again. */
const askAgainAfter = 30_000;

/** The same after the service said that it stops: it is being restarted, or another process takes its place. */
const askRestartedAfter = 5000;

/** What the page hears of the service while it is looked at. */
export interface Live {
  /** Whether the stream is open; while it is not, what changes has to be asked for. */
  readonly connected: boolean;
  close(): void;
}

/** A number in an event's data, by name; undefined when it is missing. */
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
 * Listens to the service's events and puts them where the pages read them. Only while the page is in sight: browsers
 * keep few connections to a server, and tabs in the background would hold them all.
 */
export function listenLive({ queries }: Service, address = '/api/v1/events'): Live {
  let connected = $state(false);
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let restarting = false;

  function heard(event: MessageEvent<string>) {
    const count = numberIn(event.data, 'unread_count');
    if (count === undefined) return;
    // An answer under way is older than this.
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
      // The browser comes again by itself when the line broke, but not when it was refused: then the count is asked
      // for, which tells whether the session has ended.
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
