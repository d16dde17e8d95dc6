/** Milliseconds until a stream that the service refused is requested again. */
const askAgainAfter = 30_000;

/** The same after the service announced that it stops: it is being restarted, or another process replaces it. */
const askRestartedAfter = 5000;

/** A stream of events of the service while the page is visible. */
export interface EventListening {
  /** Whether the stream is open. While it is not, pages poll. */
  readonly connected: boolean;
  close(): void;
}

interface EventHandlers {
  /** Called with the data of an event, by its name. */
  readonly handlers: Readonly<Record<string, (data: object) => void>>;
  /** Called when the stream has opened, also after an interruption, in which events were missed. */
  readonly onopen?: () => void;
  /** Called when the service has refused the stream. */
  readonly onrefused?: () => void;
}

/** Returns the data of an event; an empty object if it is no JSON object. */
function dataOf({ data }: MessageEvent<string>): object {
  try {
    const read: unknown = JSON.parse(data);
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}

/**
 * Listens to the events at an address. Only while the page is visible: browsers limit the connections to a server, and
 * background tabs would use all of them.
 */
export function listenEvents(
  address: string,
  { handlers, onopen, onrefused }: EventHandlers,
): EventListening {
  let connected = $state(false);
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let restarting = false;

  function open() {
    clearTimeout(again);
    if (source !== undefined || document.hidden) return;
    const opened = new EventSource(address);
    source = opened;
    opened.addEventListener('open', () => {
      connected = true;
      restarting = false;
      onopen?.();
    });
    for (const [name, handle] of Object.entries(handlers))
      opened.addEventListener(name, (event: MessageEvent<string>) => handle(dataOf(event)));
    opened.addEventListener('closing', (event: MessageEvent<string>) => {
      restarting = true;
      close();
      const wait: unknown = Reflect.get(dataOf(event), 'reconnect_after_ms');
      again = setTimeout(open, typeof wait === 'number' ? wait : askRestartedAfter);
    });
    opened.addEventListener('error', () => {
      connected = false;
      // The browser reconnects after a lost connection, but not after a refusal.
      if (opened.readyState !== EventSource.CLOSED) return;
      close();
      onrefused?.();
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
