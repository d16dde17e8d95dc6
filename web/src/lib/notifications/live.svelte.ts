import type { Service } from '../service.ts';
import { listsKey, unreadKey } from './queries.ts';

/** Milliseconds until a stream that the service refused is asked for again. */
const askAgainAfter = 30_000;

/** What the page hears of the service while it is looked at. */
export interface Live {
  /** Whether the stream is open; while it is not, what changes has to be asked for. */
  readonly connected: boolean;
  close(): void;
}

function countIn(text: string): number | undefined {
  try {
    const data: unknown = JSON.parse(text);
    const count =
      typeof data === 'object' && data !== null && 'unread_count' in data ? data.unread_count : undefined;
    return typeof count === 'number' ? count : undefined;
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

  function heard(event: MessageEvent<string>) {
    const count = countIn(event.data);
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
    });
    opened.addEventListener('notification', heard);
    opened.addEventListener('error', () => {
      connected = false;
      // The browser comes again by itself when the line broke, but not when it was refused: then the count is asked
      // for, which tells whether the session has ended.
      if (opened.readyState !== EventSource.CLOSED) return;
      shut();
      void queries.invalidateQueries({ queryKey: unreadKey });
      again = setTimeout(open, askAgainAfter);
    });
  }

  function shut() {
    clearTimeout(again);
    source?.close();
    source = undefined;
    connected = false;
  }

  function turn() {
    if (document.hidden) shut();
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
      shut();
    },
  };
}
