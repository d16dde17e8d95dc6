import type { ServerResponse } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import type { Listener } from '../database/listen.ts';
import { DatabaseUnavailable } from '../database/unavailable.ts';
import { refuse } from './refuse.ts';

/** State sent to the reader of a stream whenever `version` differs from the previous one. */
export interface StreamState {
  event: string;
  data: unknown;
  version: string;
}

/** Reads the current state; null when the stream must end. */
export type ReadStreamState = () => Promise<StreamState | null>;

/** The open event streams of this process. Their state is in the database, so any process may serve them. */
export interface EventStreams {
  /** Opens an account's stream, which ends with its response; throws 429 when the account has too many. */
  open(accountRef: number, readState: ReadStreamState, response: ServerResponse): Readable;
  /** Returns the number of open streams. */
  count(): number;
  /** Ends every stream and announces when to reconnect, so that the server can stop. */
  close(): void;
}

/** Channel for the refs of accounts whose streams must read their state again, separated by commas. */
const CHANNEL = 'account';
const MOST_OF_AN_ACCOUNT = 10;
const HEARTBEAT_MS = 25_000;
/** How long a browser waits before it reconnects. */
const RETRY_MS = 3000;
/** When readers of a stopping server reconnect; randomised, so that they do not all reconnect at once. */
const RECONNECT_AFTER_MS = { least: 1000, most: 5000 };
/** Delay before a stream retries while the database is not available. */
const CHECK_AGAIN_MS = 1000;

interface Open {
  refresh(): void;
  /** Ends the stream, after writing these last lines if given. */
  end(lastWords?: string): void;
}

/** The event `closing` of the contract; `retry` is for clients that know only the standard. */
function farewell(): string {
  const { least, most } = RECONNECT_AFTER_MS;
  const after = Math.round(least + Math.random() * (most - least));
  return `retry: ${after}\nevent: closing\ndata: ${JSON.stringify({ reconnect_after_ms: after })}\n\n`;
}

/** Creates a stream that reads its state on opening, on request and with each heartbeat, one read at a time. */
function openStream(readState: ReadStreamState, ended: (stream: Open) => void, heartbeatMs: number) {
  const body = new PassThrough();
  let version = '';
  let busy = false;
  let asked = false;
  let over = false;

  const stream: Open = {
    refresh: () => {
      asked = true;
      if (!busy) void lookUntilQuiet();
    },
    end(lastWords) {
      if (over) return;
      over = true;
      clearInterval(heartbeat);
      body.end(lastWords);
      ended(stream);
    },
  };

  async function lookUntilQuiet(): Promise<void> {
    busy = true;
    while (asked && !over) {
      asked = false;
      // An error ends the stream: the browser reconnects and then gets the reason. While the database is not available,
      // reconnecting would be refused and the browser would give up, so the stream retries.
      const state = await readState().catch((error: unknown) =>
        error instanceof DatabaseUnavailable ? 'later' : null,
      );
      if (state === 'later') setTimeout(stream.refresh, CHECK_AGAIN_MS).unref();
      else if (state === null) stream.end();
      else if (!over && state.version !== version) {
        version = state.version;
        body.write(`event: ${state.event}\ndata: ${JSON.stringify(state.data)}\n\n`);
      }
    }
    busy = false;
  }

  const heartbeat = setInterval(() => {
    // A reader that no longer drains is gone, even if its connection looks open.
    if (body.writableNeedDrain) return stream.end();
    body.write(': still here\n\n');
    stream.refresh();
  }, heartbeatMs);
  heartbeat.unref();
  body.on('error', () => stream.end());
  body.write(`retry: ${RETRY_MS}\n\n`);
  stream.refresh();
  return { body, stream };
}

export function openEventStreams(listener: Listener, heartbeatMs = HEARTBEAT_MS): EventStreams {
  const accounts = new Map<number, Set<Open>>();
  let stopHearing: (() => void) | null = null;
  let closed = false;

  const heard = (word: string | null) => {
    const refs = word === null ? [...accounts.keys()] : word.split(',').map(Number);
    for (const ref of refs) for (const stream of accounts.get(ref) ?? []) stream.refresh();
  };

  return {
    open(accountRef, readState, response) {
      const those = accounts.get(accountRef) ?? new Set();
      if (those.size >= MOST_OF_AN_ACCOUNT)
        throw refuse('too-many-event-streams', {}, { 'retry-after': '30' });
      // Subscribes before the first read, so that no change is missed in between.
      if (!closed) stopHearing ??= listener.hear(CHANNEL, heard);
      const ended = (stream: Open) => {
        those.delete(stream);
        if (those.size === 0 && accounts.get(accountRef) === those) accounts.delete(accountRef);
      };
      const { body, stream } = openStream(readState, ended, heartbeatMs);
      accounts.set(accountRef, those.add(stream));
      response.once('close', () => stream.end());
      if (closed) stream.end(farewell());
      return body;
    },
    count: () => [...accounts.values()].reduce((sum, those) => sum + those.size, 0),
    close() {
      closed = true;
      stopHearing?.();
      stopHearing = null;
      for (const stream of [...accounts.values()].flatMap((those) => [...those])) stream.end(farewell());
    },
  };
}
