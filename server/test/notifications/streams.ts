import { basePath } from '@vitrine/contract/operations';
import type { Visitor } from '../support/client.ts';

/** An open event stream, like that of a browser. */
export interface Listening {
  status: number;
  /** The unread counts received so far. */
  counts: number[];
  /** Waits for the next event, at most this long. */
  next(withinMs?: number): Promise<number>;
  /** Resolves when the server ends the stream. */
  ended: Promise<void>;
  /** Waits until the data of an event of this name meets the condition, and returns it. */
  heard<T>(event: string, isIt: (data: T) => boolean): Promise<T>;
  /** All text received. */
  text(): string;
  close(): void;
}

/** Opens the event stream of the account behind this cookie or header. */
export async function listen(
  address: string,
  who: { cookie?: Visitor; bearer?: string },
  post?: string,
): Promise<Listening> {
  const headers: Record<string, string> = {
    ...(who.cookie === undefined ? {} : { cookie: `user=${who.cookie.cookie() ?? ''}` }),
    ...(who.bearer === undefined ? {} : { authorization: `Bearer ${who.bearer}` }),
  };
  return listenAt(address, post === undefined ? '/events' : `/events?post=${post}`, headers);
}

/** Opens an event stream at a path. */
export async function listenAt(
  address: string,
  path: string,
  headers: Record<string, string>,
): Promise<Listening> {
  const abort = new AbortController();
  const response = await fetch(`${address}${basePath}${path}`, { headers, signal: abort.signal });
  const counts: number[] = [];
  let seen = 0;
  let wake = () => {};
  let whole = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      whole += decoder.decode(bytes, { stream: true });
      const found = [...whole.matchAll(/^event: notification\ndata: \{"unread_count":(\d+)\}\n\n/gm)];
      counts.splice(0, counts.length, ...found.map(([, count]) => Number(count)));
      wake();
    }
  };
  const ended = read().catch(() => {});
  return {
    status: response.status,
    counts,
    async next(withinMs = 30_000) {
      const limit = Date.now() + withinMs;
      while (counts.length <= seen) {
        const left = limit - Date.now();
        if (left <= 0) throw new Error(`no event within ${withinMs} ms`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, left).unref();
        });
      }
      seen += 1;
      return counts[seen - 1] ?? -1;
    },
    async heard<T>(event: string, isIt: (data: T) => boolean) {
      const limit = Date.now() + 30_000;
      while (true) {
        const found = [...whole.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)]
          .filter(([, name]) => name === event)
          // The test knows the data of its events.
          .map(([, , data = '']) => JSON.parse(data) as T)
          .findLast(isIt);
        if (found !== undefined) return found;
        if (Date.now() > limit) throw new Error(`no such event ${event} in: ${whole}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 200).unref();
        });
      }
    },
    ended,
    text: () => whole,
    close: () => abort.abort(),
  };
}
